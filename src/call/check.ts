// The arguments of a call, before anything is done with them: no key twice, and as the tool's schema wants them.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { RegisteredTool } from '../registry/registry.ts'
import type { CallContext } from './context.ts'
import type { Acceptor, Validator } from './validate.ts'

/** Throws what is wrong with them. Waits only when the tool's schema must be compiled to tell that, and was not before. */
export function checkArguments(
  { validators, trouble }: Pick<CallContext, 'validators' | 'trouble'>,
  entry: RegisteredTool,
  text: string,
): Promise<void> | undefined {
  const { fingerprint, tool } = entry
  const compiled = validators.compiled(fingerprint)
  if (compiled) {
    check(compiled, entry, text)
    return undefined
  }
  const ready = validators.ready(fingerprint, tool.inputSchema)
  if (ready && accepts(ready, text)) return undefined
  return validators.get(fingerprint, tool.inputSchema).then((validator) => {
    if (validator.flaw !== undefined)
      trouble(`the arguments of ${entry.address} are not checked in full: ${validator.flaw}`)
    check(validator, entry, text)
  })
}

export function badArguments(address: string, server: string, problem: string): Fault {
  return new Fault('ARGUMENTS_INVALID', `the arguments of ${address} are wrong: ${problem}`, {
    hint: server === '' ? undefined : `see what it wants: busbar tools ${server} --json`,
    ...(server === '' ? {} : { server }),
  })
}

// --- internal ---

function accepts(ready: Acceptor, text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return ready.isValid(value) || (text.includes('null') && ready.isValid(withoutNulls(value)))
  } catch {
    return false
  }
}

function check(validator: Validator, { address, server }: RegisteredTool, text: string): void {
  const value: unknown = JSON.parse(text)
  const checked = validator.check(value)
  if (checked.ok || (text.includes('null') && validator.check(withoutNulls(value)).ok)) return
  const problems = checked.problems.map(({ path, message }) => (path === '' ? message : `${path} ${message}`))
  throw badArguments(address, server, problems.join('; '))
}

/** Models write null for what they leave out. The server gets it as it was written and has the last word. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (item === null ? [] : [[key, withoutNulls(item)]])),
  )
}
