// Calls and what is recorded of them, for the owner: the bridge for front ends, and the questions commands ask.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import { JsonText } from '../call/argument-text.ts'
import type { CallResult } from '../call/result.ts'
import type { Hub } from '../hub.ts'
import type { Outcome } from '../store/invocation.ts'
import { parseSlice } from '../wire/message.ts'
import { scanObject } from '../wire/scan.ts'
import type { Answer } from './api-types.ts'

/** `POST /api/tools/call`: the arguments are taken as they are written, digit by digit. */
export async function callTool(hub: Hub, body: Buffer, signal: AbortSignal): Promise<CallResult> {
  const scan = scanObject(body)
  if (!scan.ok) throw wrong('the body is no JSON object')
  const members = new Map(scan.members.map((member) => [member.key, member]))
  const value = (key: string) => {
    const member = members.get(key)
    return member && parseSlice(body, member)
  }
  const tool = value('tool')
  if (typeof tool !== 'string' || tool === '') throw wrong('tool is missing')
  const server = optional('server', value('server'))
  const args = members.get('arguments')
  const timeout = value('timeout')
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0))
    throw wrong('timeout is no number of milliseconds')
  const approvalWait = value('approvalWait')
  if (approvalWait !== undefined && !(typeof approvalWait === 'number' && approvalWait >= 0))
    throw wrong('approvalWait is no number of milliseconds')
  const handle = hub.door(optional('agent', value('agent')), 'api')
  return await handle.call(
    server === undefined ? tool : `${server}/${tool}`,
    args && new JsonText(body.toString('utf8', args.start, args.end)),
    { signal, timeout, approvalWait, conversation: optional('conversation', value('conversation')) },
  )
}

/** `GET /api/calls?since=&agent=&server=&tool=&outcome=&conversation=&limit=&before=` */
export async function listCalls(hub: Hub, query: URLSearchParams): Promise<Answer<'GET /api/calls'>> {
  await hub.flush()
  const outcome = query.get('outcome') ?? undefined
  if (outcome !== undefined && !OUTCOMES.has(outcome)) throw wrong(`there is no outcome ${outcome}`)
  const limit = number(query, 'limit') ?? 100
  // A store takes what is below zero for no limit at all.
  if (!Number.isInteger(limit) || limit < 1) throw wrong('limit is no whole number from 1 on')
  const calls = await hub.calls.list({
    since: number(query, 'since'),
    agent: query.get('agent') ?? undefined,
    server: query.get('server') ?? undefined,
    tool: query.get('tool') ?? undefined,
    outcome: outcome as Outcome | undefined,
    conversation: query.get('conversation') ?? undefined,
    limit: Math.min(limit, 1000),
    before: number(query, 'before'),
  })
  return { calls }
}

/** `GET /api/usage?since=&by=agent|server|tool`, with the patterns of errors. */
export async function usage(hub: Hub, query: URLSearchParams): Promise<Answer<'GET /api/usage'>> {
  await hub.flush()
  const by = query.get('by') ?? 'server'
  if (by !== 'agent' && by !== 'server' && by !== 'tool') throw wrong('by is agent, server or tool')
  const since = number(query, 'since')
  const [rows, patterns, approvals] = await Promise.all([
    hub.calls.usage({ since, by }),
    hub.calls.patterns({ since }),
    hub.approvals.statistics(since ?? 0),
  ])
  return { rows, patterns, approvals }
}

/** `GET /api/usage/verify` */
export async function verify(hub: Hub): Promise<Answer<'GET /api/usage/verify'>> {
  await hub.flush()
  return await hub.calls.verify()
}

/** `GET /api/usage/totals`: what is known of each server's use. */
export async function totals(hub: Hub): Promise<Answer<'GET /api/usage/totals'>> {
  await hub.flush()
  return { servers: await hub.store.servers.totals() }
}

// --- internal ---

const OUTCOMES: ReadonlySet<string> = new Set(['ok', 'error', 'denied', 'timeout', 'cancelled', 'unknown'])

function optional(name: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  // Whoever has chosen nothing yet must not be taken for the owner.
  throw wrong(`${name} is ${said(value)}; leave it out, or give it a text`)
}

function said(value: unknown): string {
  if (value === null) return 'null'
  return value === '' ? 'empty' : isRecord(value) ? 'an object' : 'no text'
}

function number(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value)) return value
  throw wrong(`${name} is "${text}"; expected a number`)
}

function wrong(message: string): Fault {
  return new Fault('USAGE', message, { hint: 'see docs/gateway.md' })
}
