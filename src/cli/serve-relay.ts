// Lines between a client and the running gateway. When the gateway is started anew the client does not notice, apart from
// requests that were under way: those are answered with what is known of them.

import { request } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { Fault } from '../base/fault.ts'
import { gatewaySocket, type Places } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { LINES, WORD } from '../gateway/lines-upgrade.ts'
import { messagesIn } from '../wire/batch.ts'
import { withoutMark } from '../wire/byte-mark.ts'
import { requestIdOfCut } from '../wire/ends.ts'
import { type Id, idText } from '../wire/id.ts'
import { LineReader } from '../wire/lines.ts'
import { errorOf, memberValue, type ReplyMessage, type RequestMessage, readMessage } from '../wire/message.ts'

const LARGEST = 16 * 1024 * 1024
/** Milliseconds for which a gateway that went away is waited for, and between two tries. */
const PATIENCE = 60_000
const PAUSE = 250

export interface RelayOptions {
  readonly places: Places
  readonly waiting: Snapshot['waiting']
  readonly token: string
  readonly server: string | undefined
  readonly input: Readable
  readonly output: Writable
  readonly signal: AbortSignal
  /** Told what a person should know. */
  readonly note: (text: string) => void
}

/** Resolves when the client has gone. Throws when the gateway refuses, or went away and did not come back. */
export async function relayLines(options: RelayOptions): Promise<void> {
  await new Relay(options).run()
}

// --- internal ---

/** The id under which a gateway that was started anew is told what the client told the last one; its answers are for nobody. */
const GREETING = 'busbar-greeting'

class Relay {
  readonly #options: RelayOptions
  /** By id, as they came: one that was not begun is made again. */
  readonly #underWay = new Map<Id, Buffer>()
  /** How the client introduced itself. */
  #greeting: Buffer[] = []
  /** What it asked for once and for all: how much it wants to hear, and of which resources. */
  readonly #wishes = new Map<string, Buffer>()
  /** What came in while there was no gateway. */
  #waiting: Buffer[] = []
  #socket: Socket | undefined
  #done = false

  constructor(options: RelayOptions) {
    this.#options = options
  }

  async run(): Promise<void> {
    const { input, output, signal } = this.#options
    const finish = () => {
      this.#done = true
      this.#socket?.end()
    }
    const reader = new LineReader(LARGEST, {
      line: (line) => this.#fromClient(withoutMark(line)),
      oversized: (size, head, tail) => {
        const id = requestIdOfCut(withoutMark(head), tail) ?? null
        this.#answer(id, `a message of ${size} bytes is too large`, 'MESSAGE_TOO_LARGE')
      },
    })
    input.on('data', (chunk: Buffer) => reader.push(chunk))
    input.once('end', () => reader.end())
    for (const event of ['end', 'close', 'error']) input.once(event, finish)
    for (const event of ['close', 'error']) output.once(event, finish)
    signal.addEventListener('abort', finish, { once: true })
    if (signal.aborted) finish()
    try {
      for (let first = true; !this.#done; first = false) await this.#talk(await this.#connect(first), first)
    } finally {
      for (const id of this.#waiting.flatMap(requestsIn))
        this.#answer(id, 'there is no gateway any more; this was not begun', 'GATEWAY_ABSENT')
      input.destroy()
      this.#socket?.destroy()
    }
  }

  /** Until the gateway, or the client, goes away. */
  async #talk({ socket, word }: Upgraded, first: boolean): Promise<void> {
    const { output, note } = this.#options
    this.#socket = socket
    if (!first) {
      note('the gateway is back')
      for (const line of [...this.#greeting, ...this.#wishes.values()]) send(socket, line)
    }
    for (const line of this.#waiting.splice(0)) this.#toGateway(line)
    if (this.#done) socket.end()
    const reader = new LineReader(Number.POSITIVE_INFINITY, {
      line: (line) => {
        const messages = messagesIn(line).map(readMessage)
        for (const message of messages) {
          if (message.kind !== 'result' && message.kind !== 'error') continue
          if (message.id === GREETING) return
          const asked = this.#underWay.get(message.id)
          this.#underWay.delete(message.id)
          if (asked && !this.#done && messages.length === 1 && isStopping(message, word)) {
            this.#waiting.push(asked)
            return
          }
        }
        send(output, line)
      },
      oversized: () => undefined,
    })
    socket.on('data', (chunk: Buffer) => reader.push(chunk))
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve())
      socket.on('error', () => socket.destroy())
      if (socket.destroyed) resolve()
    })
    this.#socket = undefined
    if (this.#done) return
    note('the gateway went away; waiting for it')
    for (const id of this.#underWay.keys())
      this.#answer(id, 'the gateway went away; whether this was done is not known', 'CONNECTION_LOST')
    this.#underWay.clear()
  }

  async #connect(first: boolean): Promise<Upgraded> {
    const until = performance.now() + PATIENCE
    for (;;) {
      try {
        return await upgrade(this.#options)
      } catch (error) {
        const isAbsent = error instanceof Fault && error.code === 'GATEWAY_ABSENT'
        if (first || !isAbsent || this.#done || performance.now() > until) throw error
        await new Promise((resolve) => setTimeout(resolve, PAUSE))
      }
    }
  }

  #fromClient(line: Buffer): void {
    if (line.length === 0) return
    const message = readMessage(line)
    if (message.kind === 'request' && message.method === 'initialize') this.#greeting = [underGreeting(line)]
    else if (message.kind === 'notification' && message.method === 'notifications/initialized')
      this.#greeting.push(Buffer.from(line))
    else if (message.kind === 'notification' && message.method === 'notifications/cancelled')
      this.#forget(memberValue(message, 'params'))
    else if (message.kind === 'request') this.#remember(message, line)
    this.#toGateway(line)
  }

  /** What is cancelled while it waits is not made. */
  #forget(params: unknown): void {
    const id = isRecord(params) ? params['requestId'] : undefined
    this.#waiting = this.#waiting.filter((line) => !requestsIn(line).some((one) => one === id))
  }

  #remember(message: RequestMessage, line: Buffer): void {
    const { method } = message
    if (method === 'logging/setLevel') this.#wishes.set(method, underGreeting(line))
    if (method !== 'resources/subscribe' && method !== 'resources/unsubscribe') return
    const params = memberValue(message, 'params')
    const key = `resource ${isRecord(params) ? params['uri'] : ''}`
    if (method === 'resources/subscribe') this.#wishes.set(key, underGreeting(line))
    else this.#wishes.delete(key)
  }

  #toGateway(line: Buffer): void {
    if (this.#socket === undefined) {
      // A copy: what it was read with would live as long.
      this.#waiting.push(Buffer.from(line))
      return
    }
    for (const one of messagesIn(line)) {
      const message = readMessage(one)
      // A copy here, too.
      if (message.kind === 'request') this.#underWay.set(message.id, Buffer.from(one))
    }
    send(this.#socket, line)
  }

  #answer(id: Id, message: string, code: string): void {
    const error = JSON.stringify({ code: 4000, message, data: { code } })
    const text = `{"jsonrpc":"2.0","id":${idText(id)},"error":${error}}`
    send(this.#options.output, Buffer.from(text))
  }
}

function send(stream: Writable, line: Buffer): void {
  if (stream.destroyed || stream.writableEnded) return
  stream.write(line)
  stream.write('\n')
}

/** The same request under another id. */
function underGreeting(line: Buffer): Buffer {
  return Buffer.from(JSON.stringify({ ...JSON.parse(line.toString()), id: GREETING }))
}

interface Upgraded {
  readonly socket: Socket
  /** By which this gateway is known when it says that it stops. */
  readonly word: string | undefined
}

function upgrade({ places, token, server, signal, waiting }: RelayOptions): Promise<Upgraded> {
  return new Promise((resolve, reject) => {
    const asked = request({
      socketPath: gatewaySocket(places),
      path: server === undefined ? '/lines' : `/lines/${encodeURIComponent(server)}`,
      headers: {
        host: 'localhost',
        connection: 'upgrade',
        upgrade: LINES,
        authorization: `Bearer ${token}`,
      },
      signal,
    })
    asked.once('upgrade', ({ headers: { [WORD]: word } }, socket: Socket, head: Buffer) => {
      if (head.length > 0) socket.unshift(head)
      resolve({ socket, word: typeof word === 'string' ? word : undefined })
    })
    asked.once('response', ({ statusCode }) => reject(refusal(statusCode, waiting)))
    asked.once('error', (error) =>
      reject(new Fault('GATEWAY_ABSENT', `the gateway does not answer: ${error.message}`, { cause: error })),
    )
    asked.end()
  })
}

/** The ids of the requests on a line. */
function requestsIn(line: Buffer): Id[] {
  return messagesIn(line)
    .map(readMessage)
    .flatMap((message) => (message.kind === 'request' ? [message.id] : []))
}

/** Whether the gateway began nothing, because it goes: by the word that it gave, because servers give errors of their own. */
function isStopping(message: ReplyMessage, word: string | undefined): boolean {
  if (message.kind !== 'error' || word === undefined) return false
  const { data } = errorOf(message)
  return isRecord(data) && data['code'] === 'CLOSED' && data['word'] === word
}

function refusal(status: number | undefined, waiting: Snapshot['waiting']): Fault {
  if (status === 401) return badToken(waiting)
  if (status === 503)
    return new Fault('GATEWAY_ABSENT', 'the gateway is stopping', { hint: 'start one: busbar up' })
  return new Fault('GATEWAY_BUSY', `the gateway answered ${status}`, {
    hint: 'is it of the same version? restart it: busbar up',
  })
}

/** `waiting`: agents that are not there because their file is not trusted. */
export function badToken(waiting: Snapshot['waiting']): Fault {
  const [file] = waiting.values()
  return new Fault('NO_ACCESS', 'the token in BUSBAR_TOKEN opens nothing here', {
    hint:
      file === undefined
        ? 'see whether its agent is there and enabled: busbar agents list; or make another: busbar agents token NAME'
        : `${[...waiting.keys()].join(', ')} may not come in, because ${file} is not trusted yet; run: busbar trust`,
  })
}
