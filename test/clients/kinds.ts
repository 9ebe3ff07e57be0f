// Which clients are tried, on which of the gateway's endpoints.

import type { Kind } from './driven.ts'

const ALL = ['read', 'prompt', 'progress'] as const
const MODERN = '2026-07-28'
const LEGACY = '2025-11-25'

export const KINDS: readonly Kind[] = [
  { name: 'SDK v1', driver: 'sdk1', node: 'ours', skills: ALL, version: LEGACY },
  { name: 'SDK v2, modern', driver: 'sdk2-modern', node: 'ours', skills: ALL, version: MODERN },
  { name: 'SDK v2, legacy', driver: 'sdk2-legacy', node: 'ours', skills: ALL, version: LEGACY },
  { name: 'SDK v2, auto', driver: 'sdk2-auto', node: 'ours', skills: ALL, version: MODERN },
  { name: '@ai-sdk/mcp', driver: 'ai-sdk', node: 'newer', skills: ['read', 'prompt'], version: MODERN },
  { name: '@langchain/mcp-adapters', driver: 'langchain', node: 'ours', skills: ALL },
  { name: 'mcp-remote', driver: 'mcp-remote', node: 'ours', skills: ALL },
  { name: 'mcp-remote, auto', driver: 'mcp-remote-auto', node: 'ours', skills: ALL },
  { name: 'mcporter', driver: 'mcporter', node: 'newer', skills: ['read'] },
]

export interface Endpoint {
  readonly name: string
  path(server: string): string
  /** What a tool or prompt of a server is called there. */
  named(server: string, name: string): string
}

export const ENDPOINTS: readonly Endpoint[] = [
  { name: '/mcp/SERVER', path: (server) => `/mcp/${server}`, named: (_, name) => name },
  { name: '/mcp', path: () => '/mcp', named: (server, name) => `mcp__${server}__${name}` },
]
