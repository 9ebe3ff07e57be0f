// Real servers on loopback and a record of what a transport tells, for the tests in this folder.

import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Fault } from '../../base/fault.ts'
import type { OpenTransport, Outgoing, Transport, TransportEvents } from '../transport.ts'

/** Lets tests wait for something to be true without looking at a clock. */
class Watch {
  readonly #waiting = new Set<() => void>()

  changed(): void {
    for (const look of [...this.#waiting]) look()
  }

  until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!isTrue()) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }
}

export interface Hit {
  readonly method: string
  readonly path: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
  /** The message in the body. */
  readonly message: { id?: number; method?: string; params?: Record<string, unknown> }
}

export interface Rig extends Watch {
  readonly url: string
  readonly port: number
  readonly hits: Hit[]
  readonly sockets: Set<Socket>
  /** Answers whose connection is gone. */
  readonly gone: ServerResponse[]
  readonly server: http.Server
}

export type Handler = (hit: Hit, response: ServerResponse, request: IncomingMessage) => void

export async function serve(handler: Handler, server: http.Server = http.createServer()): Promise<Rig> {
  const watch = new Watch()
  const rig = Object.assign(watch, {
    hits: [] as Hit[],
    sockets: new Set<Socket>(),
    gone: [] as ServerResponse[],
    server,
    url: '',
    port: 0,
  })
  server.on('connection', (socket) => {
    rig.sockets.add(socket)
    socket.on('close', () => {
      rig.sockets.delete(socket)
      watch.changed()
    })
  })
  server.on('request', (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (chunk) => parts.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(parts).toString()
      const { method = '', url: path = '', headers } = request
      const hit = { method, path, headers, body, message: body.startsWith('{') ? JSON.parse(body) : {} }
      rig.hits.push(hit)
      response.on('close', () => {
        if (!response.writableFinished) rig.gone.push(response)
        watch.changed()
      })
      handler(hit, response, request)
      watch.changed()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  rig.port = (server.address() as AddressInfo).port
  rig.url = `http://127.0.0.1:${rig.port}/mcp`
  onTestFinished(async () => {
    for (const socket of rig.sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return rig
}

export function json(response: ServerResponse, value: unknown, status = 200, headers = {}): void {
  const body = typeof value === 'string' ? value : JSON.stringify(value)
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

export function result(id: number | undefined, value: unknown = {}): object {
  return { jsonrpc: '2.0', id, result: value }
}

export function stream(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  return response
}

export function event(value: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(value)}\n\n`
}

/** What a transport told. */
export class Told extends Watch implements TransportEvents {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
  readonly messages: { value: any; stream: number | undefined }[] = []
  readonly failures: { id: number; fault: Fault }[] = []
  readonly oversize: { size: number; id: unknown; stream: number | undefined }[] = []
  readonly noises: string[] = []
  readonly ends: Fault[] = []

  letters(): boolean {
    return false
  }

  message(bytes: Buffer, stream?: number): void {
    this.messages.push({ value: JSON.parse(bytes.toString()), stream })
    this.changed()
  }
  oversized(size: number, id: unknown, stream?: number): void {
    this.oversize.push({ size, id, stream })
    this.changed()
  }
  noise(text: string): void {
    this.noises.push(text)
    this.changed()
  }
  failed(id: number, fault: Fault): void {
    this.failures.push({ id, fault })
    this.changed()
  }
  closed(fault: Fault): void {
    this.ends.push(fault)
    this.changed()
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
  async reply(id: number): Promise<any> {
    await this.until(() => this.messages.some(({ value }) => value.id === id) || this.#over(id))
    const found = this.messages.find(({ value }) => value.id === id)
    if (found) return found.value
    throw this.#fault(id)
  }

  async failure(id: number): Promise<Fault> {
    await this.until(() => this.#over(id) || this.messages.some(({ value }) => value.id === id))
    const fault = this.#fault(id)
    if (fault === undefined) throw new Error(`${id} was answered`)
    return fault
  }

  async end(): Promise<Fault> {
    await this.until(() => this.ends.length > 0)
    return this.ends[0] as Fault
  }

  #over(id: number): boolean {
    return this.#fault(id) !== undefined
  }

  #fault(id: number): Fault | undefined {
    return this.failures.find((failure) => failure.id === id)?.fault ?? this.ends[0]
  }
}

export async function open(opener: OpenTransport): Promise<{ transport: Transport; told: Told }> {
  const told = new Told()
  const transport = await opener(told)
  onTestFinished(() => transport.close())
  return { transport, told }
}

export function message(id: number, method: string, more: Partial<Outgoing> = {}): Outgoing {
  return { body: JSON.stringify({ jsonrpc: '2.0', id, method, params: {} }), method, id, ...more }
}

export function notification(method: string): Outgoing {
  return { body: JSON.stringify({ jsonrpc: '2.0', method }), method }
}

export const MODERN = { modern: true, version: '2026-07-28' }
export const LEGACY = { modern: false, version: '2025-11-25' }

/** A session of the old era up to where calls begin. `id` 1 is taken. */
export async function greet(transport: Transport, told: Told): Promise<void> {
  transport.send(message(1, 'initialize'))
  await told.reply(1)
  transport.agree(LEGACY)
  transport.send(notification('notifications/initialized'))
}
