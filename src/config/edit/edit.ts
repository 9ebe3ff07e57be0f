// Changes a configuration file's text and leaves every byte outside of the change as the person wrote it.

import { isDeepStrictEqual } from 'node:util'
import { Fault } from '../../base/fault.ts'
import { pathText } from '../problem.ts'
import { applyChange, childOf } from './apply.ts'
import type { Change } from './change.ts'
import { readJsonc } from './jsonc.ts'
import type { Reading } from './reading.ts'
import { spliced } from './splice.ts'
import { readYaml } from './yaml.ts'

/** The text with the changes made, one after another. Throws CONFIG_EDIT when that would alter anything else. */
export function editText(text: string, syntax: 'yaml' | 'json', changes: readonly Change[]): string {
  const read = syntax === 'yaml' ? readYaml : readJsonc
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  let body = text.slice(mark.length)
  let reading = read(body)
  for (const change of changes.map(cleaned)) {
    let next: Change | undefined = change
    while (next !== undefined) {
      const step: Change | undefined = next.kind === 'drop' ? firstDrop(reading, next) : next
      if (step === undefined) break
      const made = madeChange(body, reading, step, read)
      body = made.body
      reading = made.reading
      next = next.kind === 'drop' ? next : undefined
    }
  }
  if (!reading.ok) throw unreadable(reading.problem)
  return mark + body
}

// --- internal ---

interface Made {
  readonly body: string
  readonly reading: Reading
}

function madeChange(body: string, reading: Reading, change: Change, read: (text: string) => Reading): Made {
  if (!reading.ok) throw unreadable(reading.problem)
  const wanted = applyChange(reading.data, change)
  if (isDeepStrictEqual(wanted, reading.data)) return { body, reading }
  const next = spliced(body, reading.splices(change))
  const result = read(next)
  if (!result.ok || !isDeepStrictEqual(result.data, wanted)) throw unsafe(change, result)
  return { body: next, reading: result }
}

/** The removal of the first element that is to be dropped, in the file as it is by now. */
function firstDrop(reading: Reading, { path, value }: Change & { kind: 'drop' }): Change | undefined {
  const list = reading.ok ? path.reduce<unknown>(childOf, reading.data) : undefined
  const index = Array.isArray(list) ? list.findIndex((item) => isDeepStrictEqual(item, value)) : -1
  return index < 0 ? undefined : { kind: 'delete', path: [...path, index] }
}

/** Changes carry JSON data; what JSON cannot hold (undefined members) is left out before it is compared. */
function cleaned(change: Change): Change {
  if (change.kind === 'delete') return change
  const json = JSON.stringify(change.value)
  if (json === undefined) throw new Error(`${change.kind} ${pathText(change.path)} has no value`)
  return { ...change, value: JSON.parse(json) }
}

function unreadable(problem: string): Fault {
  return new Fault('CONFIG_EDIT', `the file has a mistake, ${problem}`, {
    hint: 'mend it by hand, then try again',
  })
}

function unsafe(change: Change, result: Reading): Fault {
  const reason = result.ok
    ? 'something else in the file would change with it'
    : `it would break ${result.problem}`
  return new Fault('CONFIG_EDIT', `cannot ${change.kind} ${pathText(change.path)}: ${reason}`, {
    hint: 'nothing was written; make this change by hand (an anchor such as &name may be in use elsewhere)',
  })
}
