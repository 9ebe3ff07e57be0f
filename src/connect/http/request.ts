// A single guarded request, for what is asked beside the protocol: metadata, tokens, registries.

import { Fault } from '../../base/fault.ts'
import type { AnswerHeaders } from '../../wire/http-answer.ts'
import { Dialer, type DialOptions } from './dial.ts'
import { HeaderBook, type HeaderMap } from './headers.ts'
import type { Asker } from './kept-socket.ts'
import { followRedirect, isRedirect } from './redirect.ts'
import { breakageOf, tooLarge } from './trouble.ts'

/** For an address that a server named, `configured` is the server's own: only what that means may be private. */
export interface GuardedRequest extends DialOptions {
  readonly method?: 'GET' | 'POST' | undefined
  readonly headers?: HeaderMap | undefined
  readonly body?: string | undefined
  readonly contentType?: string | undefined
  readonly accept?: string | undefined
  /** Bytes the answer may have. */
  readonly limit?: number | undefined
  /** Milliseconds for all of it. */
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface GuardedResponse {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: Buffer
}

/** Resolves to whatever the server answers, also to errors; throws a fault when it gives no answer. */
export async function requestGuarded(options: GuardedRequest): Promise<GuardedResponse> {
  options.signal?.throwIfAborted()
  const dialer = new Dialer(options)
  let timer: NodeJS.Timeout | undefined
  let stop: (() => void) | undefined
  const given = new Promise<never>((_, reject) => {
    const { timeout = TIMEOUT, signal } = options
    timer = setTimeout(
      () => reject(new Fault('SERVER_UNREACHABLE', `${dialer.place} did not answer in time`)),
      timeout,
    )
    stop = () => reject(signal?.reason)
    signal?.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([ask(dialer, options), given])
  } finally {
    clearTimeout(timer)
    if (stop) options.signal?.removeEventListener('abort', stop)
    dialer.destroy()
  }
}

// --- internal ---

const TIMEOUT = 30_000
const LIMIT = 1024 * 1024

async function ask(dialer: Dialer, options: GuardedRequest): Promise<GuardedResponse> {
  const { method = 'GET', body, limit = LIMIT } = options
  const headers = new HeaderBook(dialer.headers, options.headers).plain({
    accept: options.accept ?? 'application/json',
    ...(body === undefined
      ? {}
      : {
          'content-type': options.contentType ?? 'application/json',
          'content-length': String(Buffer.byteLength(body)),
        }),
  })
  let path = dialer.url.pathname + dialer.url.search
  for (let count = 0; ; count++) {
    const answer = await once(dialer, method, path, headers, body, limit)
    const { status } = answer
    if (!isRedirect(status)) return answer
    const from = dialer.at(path)
    const next = followRedirect(method, status, answer.headers['location'], {
      from,
      count,
      mask: dialer.mask,
    })
    if (next instanceof Fault) throw next
    path = next
  }
}

function once(
  dialer: Dialer,
  method: string,
  path: string,
  lines: string,
  body: string | undefined,
  limit: number,
): Promise<GuardedResponse> {
  const { place } = dialer
  return new Promise((resolve, reject) => {
    let answer: Omit<GuardedResponse, 'body'> | undefined
    const parts: Buffer[] = []
    let size = 0
    const asker: Asker = {
      head(status, headers) {
        answer = { status, headers }
        const encoding = headers['content-encoding']
        if (encoding !== undefined && encoding !== 'identity')
          refuse(new Fault('MESSAGE_INVALID', `${place} answered in ${encoding}, unasked`))
      },
      data(chunk) {
        size += chunk.length
        if (size > limit) refuse(tooLarge(place, limit))
        else parts.push(chunk)
      },
      end() {
        if (answer) resolve({ ...answer, body: Buffer.concat(parts) })
      },
      broken(error, at) {
        reject(breakageOf(error, place, answer === undefined ? at : 'answering').fault)
      },
    }
    const refuse = (fault: Fault) => {
      socket.abort(asker)
      reject(fault)
    }
    const socket = dialer.send(asker, method, path, lines, body)
  })
}
