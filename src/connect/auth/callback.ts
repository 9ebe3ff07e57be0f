// Where the browser comes back to after a person signed in: a door on this machine alone, open for one answer, for five
// minutes. Whoever does not know `state` is nobody to it.

import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Fault } from '../../base/fault.ts'
import { signInFailed } from './trouble.ts'

/** What the authorization server answered, by way of the browser. */
export type Answer = Readonly<Record<'code' | 'iss' | 'error' | 'error_description', string | undefined>>

export interface Callback {
  readonly redirect: string
  /** Resolves once, with the first answer that knows the state; rejects when the time is over. */
  readonly answer: Promise<Answer>
  /** The address a person copied from the browser, where the browser could not come back itself. */
  paste(text: string): void
  close(): void
}

interface Options {
  readonly state: string
  /** A port that must be taken, or that is tried first. */
  readonly port?: number | undefined
  readonly isFixed: boolean
  readonly patience: number
  readonly signal?: AbortSignal | undefined
}

export async function openCallback({ state, port, isFixed, patience, signal }: Options): Promise<Callback> {
  const server = createServer()
  await listen(server, port, isFixed)
  const address = server.address()
  const taken = typeof address === 'object' && address ? address.port : 0
  let resolve: (answer: Answer) => void = () => undefined
  let reject: (reason: unknown) => void = () => undefined
  const answer = new Promise<Answer>((...both) => {
    ;[resolve, reject] = both
  })
  // From the first answer on, or once nobody waits for one, there is no sign-in under way.
  let isOver = false
  const giveUp = (reason: unknown) => {
    isOver = true
    reject(reason)
  }
  const timer = setTimeout(
    () => giveUp(signInFailed('nobody signed in within five minutes', 'run it again when you are ready')),
    patience,
  )
  const stop = () => giveUp(signal?.reason ?? new Fault('CALL_CANCELLED', 'signing in was given up'))
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  // Whoever waits for it gets the error; nobody has to wait.
  answer.catch(() => undefined)
  server.on('request', (request, response) => {
    const found = isOver ? undefined : answerIn(request, taken, state)
    if (found === undefined) return page(response, 400, 'This is no answer to a sign-in that is under way.')
    isOver = true
    page(
      response,
      200,
      found.error === undefined
        ? 'Signed in. You can close this window.'
        : 'This did not work. The program that asked you to sign in says why.',
    )
    resolve(found)
  })
  return {
    redirect: `http://127.0.0.1:${taken}${PATH}`,
    answer,
    paste(text) {
      const found = answerOf(pasted(text), state)
      if (found === undefined)
        throw signInFailed(
          'that is not the address of this sign-in',
          'copy the whole address from the browser after you signed in; it begins with http://127.0.0.1',
        )
      isOver = true
      resolve(found)
    },
    close() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      server.close()
      // The page just told must still get through.
      setImmediate(() => server.closeIdleConnections())
      setTimeout(() => server.closeAllConnections(), FAREWELL).unref()
    },
  }
}

// --- internal ---

const PATH = '/callback'
const FAREWELL = 1_000

async function listen(server: Server, port: number | undefined, isFixed: boolean): Promise<void> {
  const on = (number: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(number, '127.0.0.1', () => {
        server.off('error', reject)
        resolve()
      })
    })
  try {
    await on(port ?? 0)
  } catch (error) {
    if (port === undefined) throw error
    if (isFixed)
      throw signInFailed(
        `port ${port} of this machine is taken`,
        'free it, or change auth.redirectPort',
        error,
      )
    await on(0)
  }
}

function answerIn({ url = '', headers, method }: IncomingMessage, port: number, state: string) {
  // A name that leads here is not this door; only the address is.
  if (method !== 'GET' || headers.host !== `127.0.0.1:${port}`) return undefined
  const target = URL.canParse(url, 'http://127.0.0.1') ? new URL(url, 'http://127.0.0.1') : undefined
  return target?.pathname === PATH ? answerOf(target.searchParams, state) : undefined
}

function answerOf(parameters: URLSearchParams, state: string): Answer | undefined {
  const given = Buffer.from(parameters.get('state') ?? '')
  const right = Buffer.from(state)
  if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined
  const of = (name: string) => parameters.get(name) ?? undefined
  if (of('code') === undefined && of('error') === undefined) return undefined
  return { code: of('code'), iss: of('iss'), error: of('error'), error_description: of('error_description') }
}

/** A whole address, or what stands behind its question mark. */
function pasted(text: string): URLSearchParams {
  const trimmed = text.trim()
  return new URLSearchParams(trimmed.slice(trimmed.indexOf('?') + 1).replace(/#.*$/, ''))
}

function page(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.end(
    `<!doctype html><meta charset="utf-8"><title>Busbar</title><body style="font:16px system-ui;margin:4rem">${text}`,
  )
}
