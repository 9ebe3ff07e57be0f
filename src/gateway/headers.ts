// What a modern request says in its headers must be what its body says: whoever stands between may decide by headers.

import type { IncomingHttpHeaders } from 'node:http'
import type { KnownTool } from '../connect/tool-list.ts'
import { ERROR, META, MODERN_VERSION } from '../wire/era.ts'
import type { ProtocolError } from '../wire/message.ts'
import { decodeHeader } from '../wire/param-headers.ts'
import { param, type RawParams } from '../wire/params.ts'

/** Whether a request is made by the rules of the modern era. */
export function claimsModern(
  headers: IncomingHttpHeaders | undefined,
  params: RawParams,
  legacy: readonly string[],
): boolean {
  const version = headers?.['mcp-protocol-version']
  if (typeof version === 'string' && !legacy.includes(version)) return true
  return params.meta?.[META.version] !== undefined
}

/** Why a modern request is refused, or undefined. On a line there are no headers, and nothing to compare. */
export function checkModern(
  method: string,
  name: string | undefined,
  params: RawParams,
  headers: IncomingHttpHeaders | undefined,
): ProtocolError | undefined {
  const version = params.meta?.[META.version]
  if (typeof version !== 'string') {
    const claimed = headers?.['mcp-protocol-version']
    return claimed === MODERN_VERSION ? invalid(`_meta lacks ${META.version}`) : unsupported(String(claimed))
  }
  const capabilities = params.meta?.[META.capabilities]
  if (typeof capabilities !== 'object' || capabilities === null)
    return invalid(`_meta lacks ${META.capabilities}`)
  if (headers !== undefined && headers['mcp-protocol-version'] !== version)
    return mismatch(`MCP-Protocol-Version is ${said(headers['mcp-protocol-version'])}, _meta says ${version}`)
  if (version !== MODERN_VERSION) return unsupported(version)
  return headers && checkNames(method, name, headers)
}

/** Why the `Mcp-Param-…` headers of a call are refused, or undefined. */
export function checkParamHeaders(
  tool: KnownTool,
  params: RawParams,
  headers: IncomingHttpHeaders,
): ProtocolError | undefined {
  if (tool.headers.length === 0) return undefined
  const args = param(params, 'arguments')
  for (const { header, path } of tool.headers) {
    const value = path.reduce<unknown>(
      (at, key) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined),
      args,
    )
    const given = headers[`mcp-param-${header.toLowerCase()}`]
    const absent = value === undefined || value === null || typeof value === 'object'
    if (absent && given === undefined) continue
    const decoded = typeof given === 'string' ? decodeHeader(given.trim()) : undefined
    if (absent || decoded !== String(value))
      return mismatch(`Mcp-Param-${header} is ${said(given)}, which is not what the arguments say`)
  }
  return undefined
}

// --- internal ---

function checkNames(
  method: string,
  name: string | undefined,
  headers: IncomingHttpHeaders,
): ProtocolError | undefined {
  if (headers['mcp-method'] !== method)
    return mismatch(`Mcp-Method is ${said(headers['mcp-method'])}, the body says ${method}`)
  if (name === undefined) return undefined
  const header = headers['mcp-name']
  const decoded = typeof header === 'string' ? decodeHeader(header.trim()) : undefined
  return decoded === name ? undefined : mismatch(`Mcp-Name is ${said(header)}, the body says ${name}`)
}

function unsupported(version: string): ProtocolError {
  return {
    code: ERROR.unsupportedVersion,
    message: `version ${version.slice(0, 200)} of the protocol is not spoken here`,
    data: { supported: [MODERN_VERSION], requested: version },
  }
}

function invalid(message: string): ProtocolError {
  return { code: ERROR.invalidParams, message }
}

function mismatch(message: string): ProtocolError {
  return { code: ERROR.headerMismatch, message }
}

function said(value: string | string[] | undefined): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, 200)
}
