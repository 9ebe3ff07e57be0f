// A legacy client over HTTP that hides nothing: every message and event number as it comes.

import { onTestFinished } from 'vitest'
import { type Answer, type Gateway, TOKEN, until } from './hub.ts'

interface Event {
  readonly id: string | undefined
  /** Undefined where an event carries nothing but its number. */
  readonly message: Answer
}

/** A stream of events that is read from its beginning to its end. */
export class Events {
  readonly all: Event[] = []
  ended = false
  readonly #leave: AbortController

  constructor(response: Response, leave: AbortController) {
    this.#leave = leave
    onTestFinished(() => leave.abort())
    void this.#read(response).catch(() => undefined)
  }

  get messages(): Answer[] {
    return this.all.flatMap(({ message }) => (message === undefined ? [] : [message]))
  }

  /** The number of the last event. */
  get lastId(): string {
    return this.all.flatMap(({ id }) => id ?? []).at(-1) ?? ''
  }

  /** The first message of a method, or with that id, once it is there. */
  async find(wanted: string | number): Promise<Answer> {
    const fits = (one: Answer) =>
      typeof wanted === 'number' ? one.id === wanted && one.method === undefined : one.method === wanted
    return await until(() => this.messages.find(fits))
  }

  of(method: string): Answer[] {
    return this.messages.filter((one) => one.method === method).map(({ params }) => params)
  }

  async end(): Promise<this> {
    await until(() => this.ended)
    return this
  }

  /** Breaks the connection. */
  leave(): void {
    this.#leave.abort()
  }

  async #read(response: Response): Promise<void> {
    let text = ''
    try {
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const parts = (text + chunk).split('\n\n')
        text = parts.pop() ?? ''
        for (const part of parts) this.#take(part)
      }
    } finally {
      this.ended = true
    }
  }

  #take(event: string): void {
    const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(event)?.[1]
    const data = field('data')
    if (data !== undefined) this.all.push({ id: field('id'), message: data ? JSON.parse(data) : undefined })
  }
}

interface WireOptions {
  readonly token?: string
  readonly version?: string
  readonly capabilities?: object
}

export class WireClient {
  readonly #gateway: Gateway
  readonly path: string
  readonly id: string
  readonly token: string
  /** What the gateway said of itself. */
  readonly welcome: Answer
  #next = 100

  constructor(gateway: Gateway, path: string, token: string, id: string, welcome?: Answer) {
    this.#gateway = gateway
    this.path = path
    this.token = token
    this.id = id
    this.welcome = welcome
  }

  static async open(gateway: Gateway, path = '/mcp', options: WireOptions = {}): Promise<WireClient> {
    const { token = TOKEN } = options
    const answer = await gateway.post(path, greeting(options), { authorization: `Bearer ${token}` })
    const { result } = await onlyMessage(answer)
    const client = new WireClient(gateway, path, token, answer.headers.get('mcp-session-id') ?? '', result)
    await client.tell('notifications/initialized')
    return client
  }

  /** The same session at another gateway, as after a restart. */
  at(gateway: Gateway): WireClient {
    return new WireClient(gateway, this.path, this.token, this.id)
  }

  post(body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    const own = { authorization: `Bearer ${this.token}`, 'mcp-session-id': this.id }
    return this.#gateway.post(this.path, body, { ...own, ...headers }, signal)
  }

  async tell(method: string, params?: object): Promise<number> {
    return (await this.post({ jsonrpc: '2.0', method, ...(params && { params }) })).status
  }

  /** The whole answer to a request, whatever came before it. */
  async ask(method: string, params: object = {}): Promise<Answer> {
    const id = this.#next++
    return await onlyMessage(await this.post({ jsonrpc: '2.0', id, method, params }), id)
  }

  /** The result of a tool. */
  async call(name: string, given: object = {}): Promise<Answer> {
    return (await this.ask('tools/call', { name, arguments: given })).result
  }

  /** A tool call whose events are looked at as they come. */
  async begin(name: string, given: object = {}, id = 1, meta?: object): Promise<Events> {
    const leave = new AbortController()
    const params = { name, arguments: given, ...(meta && { _meta: meta }) }
    return new Events(
      await this.post({ jsonrpc: '2.0', id, method: 'tools/call', params }, {}, leave.signal),
      leave,
    )
  }

  /** Answers something that the client was asked. */
  async answer(id: unknown, result: object): Promise<number> {
    return (await this.post({ jsonrpc: '2.0', id, result })).status
  }

  /** GET, with anything the caller wants in its headers. */
  async get(headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    const own = { authorization: `Bearer ${this.token}`, accept: 'text/event-stream' }
    return await fetch(this.#gateway.url + this.path, {
      headers: { ...own, 'mcp-session-id': this.id, ...headers },
      signal: signal ?? null,
    })
  }

  /** Reads the stream of the session, or with a number goes on with what followed that. */
  async listen(lastId?: string): Promise<Events> {
    const leave = new AbortController()
    const response = await this.get(lastId === undefined ? {} : { 'last-event-id': lastId }, leave.signal)
    if (response.status !== 200) throw new Error(`GET was answered with ${response.status}`)
    return new Events(response, leave)
  }

  async delete(headers: Record<string, string> = {}): Promise<number> {
    const own = { authorization: `Bearer ${this.token}`, 'mcp-session-id': this.id }
    const answer = await fetch(this.#gateway.url + this.path, {
      method: 'DELETE',
      headers: { ...own, ...headers },
    })
    return answer.status
  }
}

/** The message with an id in an answer of either kind, or the only one. */
async function onlyMessage(answer: Response, id?: unknown): Promise<Answer> {
  const text = await answer.text()
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) return JSON.parse(text)
  const messages = [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data ?? ''))
  return messages.find((one) => one.method === undefined && (id === undefined || one.id === id))
}

export function greeting({ version = '2025-11-25', capabilities = {} }: WireOptions = {}): object {
  const clientInfo = { name: 'wire', version: '1' }
  const params = { protocolVersion: version, capabilities, clientInfo }
  return { jsonrpc: '2.0', id: 0, method: 'initialize', params }
}

/** The beginning of a server that asks its caller whatever a test wants; for `ownServer`. */
export const ASKING = `
const waiting = new Map(), heard = [], answers = []
let next = 1
const ask = (say, method, params) => new Promise((resolve) => {
  const id = 'q' + next++
  waiting.set(id, resolve)
  say({ id, method, params })
})
globalThis.seen = (method, params, line) => {
  const message = JSON.parse(line)
  if (method === undefined) {
    const { result, error } = message
    answers.push({ result, error })
    waiting.get(message.id)?.({ result, error })
  }
  else heard.push(message)
}
`

/** Its tools. \`ask\` gives back what was answered, word for word. */
export const ASKING_TOOLS = `{
  ask: ({ method, params }, say) => ask(say, method, params),
  answers: () => answers,
  pid: () => [process.pid],
  heard: ({ method }) => heard.filter((one) => one.method === method),
  wait: ({ key }) => new Promise((resolve) => waiting.set('wait ' + key, () => resolve('waited'))),
  free: ({ key }) => { waiting.get('wait ' + key)?.(); return 'free' },
  say: ({ message }, say) => { say(message) },
}`

const MODERN = '2026-07-28'
const PREFIX = 'io.modelcontextprotocol/'

interface ModernOptions {
  readonly token?: string
  readonly name?: string
  readonly capabilities?: object
  /** The least of what servers log that it wants to hear. */
  readonly logLevel?: string
}

/** A request as a modern client makes it; its events as they come, or its one answer. */
export async function modern(
  gateway: Gateway,
  path: string,
  method: string,
  params: object = {},
  { token = TOKEN, name, capabilities = {}, logLevel }: ModernOptions = {},
): Promise<Events & { readonly status: number; answer(): Promise<Answer> }> {
  const leave = new AbortController()
  const _meta = {
    [`${PREFIX}protocolVersion`]: MODERN,
    [`${PREFIX}clientCapabilities`]: capabilities,
    ...(logLevel && { [`${PREFIX}logLevel`]: logLevel }),
  }
  const response = await gateway.post(
    path,
    { jsonrpc: '2.0', id: 'm1', method, params: { ...params, _meta } },
    {
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(name && { 'mcp-name': name }),
    },
    leave.signal,
  )
  const [looked, whole] = [response.clone(), response]
  return Object.assign(new Events(looked, leave), {
    status: response.status,
    answer: () => onlyMessage(whole, 'm1'),
  })
}
