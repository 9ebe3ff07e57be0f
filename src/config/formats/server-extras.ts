// The parts of a server entry on which clients differ most: time-outs, tool filters and standing approvals.

import { isRecord } from '../../base/record.ts'
import type { Entry } from './entry.ts'

export function readTimeouts(entry: Entry): void {
  const call = entry.take('tool_timeout_sec', 'timeout')
  if (call) put(entry, 'call', call, call.key === 'tool_timeout_sec' ? 's' : entry.traits.timeoutUnit)
  const seconds = entry.take('startup_timeout_sec')
  if (seconds) put(entry, 'connect', seconds, 's')
  const milliseconds = entry.take('startup_timeout_ms', 'initTimeout')
  if (milliseconds) put(entry, 'connect', milliseconds, 'ms')
}

export function readTools(entry: Entry): void {
  const include = entry.take('includeTools', 'enabled_tools', 'available_tools')
  if (include && isNonEmptyList(include.value)) entry.put(['tools', 'include'], include.value, include.key)
  const exclude = entry.take('excludeTools', 'disabled_tools', 'disabledTools')
  if (exclude && isNonEmptyList(exclude.value)) entry.put(['tools', 'exclude'], exclude.value, exclude.key)
  // Copilot: a plain list of the tools that are on; an empty one turns all of them off.
  if (Array.isArray(entry.raw['tools'])) {
    const list = entry.take('tools')
    if (list) entry.put(['tools', 'include'], list.value, list.key)
  }
}

/** Standing approvals of Cline and Roo become rules; they hold only once a person has trusted the entry. */
export function readApproval(entry: Entry): void {
  const allowed = entry.take('autoApprove', 'alwaysAllow')
  if (!allowed || !Array.isArray(allowed.value)) return
  allowed.value.forEach((tool, index) => {
    if (typeof tool === 'string' && tool !== '') entry.put(['approval', tool], 'allow', allowed.key, index)
  })
}

// --- internal ---

function put(
  entry: Entry,
  name: 'call' | 'connect',
  found: { key: string; value: unknown },
  unit: 'ms' | 's' | 'guess',
): void {
  const { key, value } = found
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) {
    // A duration as text is our own form; anything else is left for the schema to refuse where it is ours.
    if (typeof value === 'string' || entry.traits.strict) entry.put(['timeouts', name], value, key)
    return
  }
  const seconds = unit === 's' || (unit === 'guess' && value < 1000)
  entry.put(['timeouts', name], seconds ? value * 1000 : value, key)
}

function isNonEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && !isRecord(value[0])
}
