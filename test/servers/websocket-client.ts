// A WebSocket transport for the SDK's client, which has none of its own.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { WebSocket } from 'ws'

export class WebSocketTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #url: URL
  #socket: WebSocket | undefined

  constructor(url: URL) {
    this.#url = url
  }

  start(): Promise<void> {
    const socket = new WebSocket(this.#url, 'mcp')
    this.#socket = socket
    socket.on('message', (data) => this.onmessage?.(JSON.parse(data.toString())))
    socket.on('close', () => this.onclose?.())
    return new Promise((resolve, reject) => {
      socket.on('open', () => resolve())
      socket.on('error', (error) => {
        reject(error)
        this.onerror?.(error)
      })
    })
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket?.send(JSON.stringify(message), (error) => (error ? reject(error) : resolve()))
    })
  }

  async close(): Promise<void> {
    this.#socket?.close()
  }
}
