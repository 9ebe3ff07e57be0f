// The seam between what is said and how it travels: stdio, http, sse, websocket and in-process all look like this.

import type { Fault } from '../base/fault.ts'
import type { Body } from '../wire/message.ts'

/** One JSON-RPC message on its way to a server. */
export interface Outgoing {
  /** The whole message, without a line end. */
  readonly body: Body
  readonly method: string
  /** Only requests have one; unique on this transport. */
  readonly id?: number | undefined
  /** Stands in the Mcp-Name header of modern requests: the tool, prompt or resource. */
  readonly name?: string | undefined
  /** Further headers of a modern request: Mcp-Param-…. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * What a transport hands up, in the order of arrival. None of these may throw.
 * Every request that was sent ends in a message with its id, in `failed` for its id, or in `closed`.
 */
export interface TransportEvents {
  /** A whole message. `stream` is the id of the request on whose own stream it came. */
  message(bytes: Buffer, stream?: number): void
  /**
   * A short message, one letter for each byte of UTF-8, that begins at a place of a chunk. False: it is not an answer that is
   * waited for in its usual form, and is to come as bytes.
   */
  letters(message: string, chunk: Buffer, start: number): boolean
  /** A message that is too large was thrown away; the id is its own where it could be found. */
  oversized(size: number, id: unknown, stream?: number): void
  /** Something that is no message at all: a banner on stdout, an odd event. */
  noise(text: string): void
  /** This request will not be answered; the rest goes on. */
  failed(id: number, fault: Fault): void
  /** Nothing will be sent or received any more. Comes once. */
  closed(fault: Fault): void
}

export interface Transport {
  /** Whether each request has a stream of its own, so that dropping it cancels the request. */
  readonly streams: boolean
  /** Never throws: what goes wrong is told by `failed` or `closed`. Order is kept. */
  send(outgoing: Outgoing): void
  /** Stops waiting for a request and drops its stream, where it has one. */
  drop(id: number): void
  /** What later messages carry in their headers, known once the two sides agreed. */
  agree(agreement: { readonly modern: boolean; readonly version: string }): void
  /** Of a process of ours. */
  readonly pid?: number | undefined
  /** For error messages: exit code, signal, what was said on stderr. */
  diagnosis(): Diagnosis
  /** Ends everything that belongs to it, within three seconds. Idempotent. */
  close(): Promise<void>
}

export interface Diagnosis {
  readonly pid?: number | undefined
  readonly exitCode?: number | null | undefined
  readonly signal?: string | null | undefined
  readonly stderr?: string | undefined
}

export type OpenTransport = (events: TransportEvents) => Transport | Promise<Transport>
