// A token that somebody else keeps fresh in a file. It is looked at before every request, so what stands there now is
// what is sent.

import { readFileSync, statSync } from 'node:fs'
import { Fault } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import { learnSecret } from '../../base/redact.ts'
import type { Credential, Signature } from '../http/credential.ts'
import type { Refusal } from '../http/refusal.ts'

export class TokenFile implements Credential {
  readonly #path: string
  readonly #server: string
  #stamp = ''
  #signature: Signature | undefined

  constructor(path: string, server: string) {
    this.#path = path
    this.#server = server
  }

  get version(): unknown {
    try {
      return this.#look()
    } catch {
      return undefined
    }
  }

  sign(): Signature {
    const stamp = this.#look()
    if (this.#signature === undefined || stamp !== this.#stamp) {
      const token = this.#token()
      learnSecret(token, `file:${this.#path}`)
      this.#signature = { headers: ['authorization', `Bearer ${token}`], token: stamp }
      this.#stamp = stamp
    }
    return this.#signature
  }

  /** Again only when it changed since: the same token is refused the same way. */
  async refused(_refusal: Refusal, { token }: Signature): Promise<boolean> {
    if (this.#look() !== token) return true
    throw this.#fault(
      `${this.#server} does not take the token in ${this.#path}`,
      'write a new one to that file',
    )
  }

  // --- internal ---

  #look(): string {
    try {
      const { mtimeMs, size, ino } = statSync(this.#path)
      return `${mtimeMs} ${size} ${ino}`
    } catch (error) {
      throw this.#fault(
        `the token file ${this.#path} cannot be read`,
        'make it, or mend auth.tokenPath',
        error,
      )
    }
  }

  #token(): string {
    const text = readFileSync(this.#path, 'utf8').trim()
    const token = text.startsWith('{') ? tokenIn(text) : text
    // The content is not shown: it may be a token all the same.
    if (token !== undefined && /^[\x21-\x7e]+$/.test(token)) return token
    throw this.#fault(
      `${this.#path} holds no token`,
      'expected the token alone, or a JSON object with "access_token" or "token"',
    )
  }

  #fault(message: string, hint: string, cause?: unknown): Fault {
    return new Fault('AUTH_REQUIRED', message, { hint, server: this.#server, cause })
  }
}

// --- internal ---

function tokenIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const found = isRecord(value) ? (value['access_token'] ?? value['token']) : undefined
    return typeof found === 'string' ? found : undefined
  } catch {
    return undefined
  }
}
