// Which proxy the environment asks for. The environment is handed in: what a project sets must not reach this.

import { isIP } from 'node:net'
import { Fault } from '../../base/fault.ts'
import { isInBlock } from './address.ts'
import { bareHost, meansLoopback } from './guard.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The proxy for an address, or undefined for a direct connection. This machine is never reached through one. */
export function proxyFor(target: URL, env: Environment): URL | undefined {
  const host = bareHost(target)
  if (meansLoopback(host)) return undefined
  const scheme = target.protocol.slice(0, -1)
  const names = [`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`, 'all_proxy', 'ALL_PROXY']
  const name = names.find((candidate) => env[candidate])
  if (name === undefined) return undefined
  const exceptions = env['no_proxy'] ?? env['NO_PROXY'] ?? ''
  if (exceptions.split(/[\s,]+/).some((rule) => isExempt(rule, host, portOf(target)))) return undefined
  return readProxy(name, env[name] ?? '')
}

export function portOf(url: URL): string {
  return url.port || (url.protocol === 'https:' || url.protocol === 'wss:' ? '443' : '80')
}

/** The header a proxy with a password wants. */
export function proxyAuthorization(proxy: URL): string | undefined {
  return proxy.username === '' && proxy.password === '' ? undefined : basicAuthorization(proxy)
}

export function basicAuthorization({ username, password }: URL): string {
  const text = `${decoded(username)}:${decoded(password)}`
  return `Basic ${Buffer.from(text).toString('base64')}`
}

// --- internal ---

/** A percent sign that encodes nothing is one. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function isExempt(rule: string, host: string, port: string): boolean {
  if (rule === '') return false
  if (rule === '*') return true
  if (rule.includes('/')) return isIP(host) !== 0 && isInBlock(host, rule)
  const [, bracketed, named, wanted] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(rule) ?? [rule, rule]
  if (wanted !== undefined && wanted !== port) return false
  const name = (bracketed ?? named ?? '').replace(/^\*?\./, '').toLowerCase()
  if (isIP(name) || isIP(host)) return name === host
  return host === name || host.endsWith(`.${name}`)
}

function readProxy(name: string, value: string): URL {
  const text = value.includes('://') ? value : `http://${value}`
  if (!URL.canParse(text)) throw new Fault('CONFIG_INVALID', `${name} holds no address of a proxy`)
  const url = new URL(text)
  if (url.protocol === 'http:' || url.protocol === 'https:') return url
  // Going around it in silence would show what somebody wanted hidden.
  throw new Fault('CONFIG_INVALID', `${name} asks for a ${url.protocol.slice(0, -1)} proxy`, {
    hint: 'only http and https proxies can be used; NO_PROXY makes exceptions',
  })
}
