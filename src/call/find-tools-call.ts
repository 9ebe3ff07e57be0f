// What a call of `call_tool` means: another call, which takes its way as if it had been made by itself.

import type { Actor } from '../policy/access.ts'
import { find, parseSlice } from '../wire/message.ts'
import { scanObject } from '../wire/scan.ts'
import { verdictOn } from './admit.ts'
import type { CallContext } from './context.ts'
import { CALL_TOOL } from './view.ts'

export interface MeantCall {
  readonly name: string
  /** The arguments as they stand there, digit by digit. */
  readonly args: Buffer
}

/**
 * Undefined when it cannot be read, or `call_tool` itself may not be used: then it is a call of that tool, and refused
 * and written down as such.
 */
export function meantBy(context: CallContext, actor: Actor, text: Buffer): MeantCall | undefined {
  const scan = scanObject(text)
  if (!scan.ok || new Set(scan.members.map(({ key }) => key)).size < scan.members.length) return undefined
  if (scan.members.some(({ key }) => key !== 'name' && key !== 'arguments')) return undefined
  const nameAt = find(scan.members, 'name')
  const name = nameAt && parseSlice(text, nameAt)
  if (typeof name !== 'string' || name === '' || name === CALL_TOOL) return undefined
  if (verdictOn(context, actor, { server: '', tool: CALL_TOOL }).verdict === 'deny') return undefined
  const argsAt = find(scan.members, 'arguments')
  const args = argsAt ? objectIn(text.subarray(argsAt.start, argsAt.end)) : NONE
  return args && { name, args }
}

// --- internal ---

const NONE = Buffer.from('{}')

/** Some models write the object as a text, or null for none. */
function objectIn(value: Buffer): Buffer | undefined {
  const [first] = value
  if (first === 0x7b) return value
  if (first === 0x6e) return NONE
  if (first !== 0x22) return undefined
  const inner = Buffer.from(String(JSON.parse(value.toString('utf8'))).trim() || '{}')
  return scanObject(inner).ok ? inner : undefined
}
