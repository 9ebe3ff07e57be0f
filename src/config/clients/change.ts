// Puts our entry into a client's file and takes it out again. Nothing else in the file changes, not by a byte; where that
// cannot be had, nothing is written.

import { isDeepStrictEqual } from 'node:util'
import { Fault } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import { type Document, parseDocument, readDocument, type Syntax } from '../document.ts'
import { editText } from '../edit/edit.ts'
import { dig } from '../formats/shape.ts'
import { ENTRY_NAME, type KnownClient } from './known.ts'
import { withoutTable, withTable } from './toml-table.ts'

/** A client's file as it is now. */
export interface ClientText {
  readonly text: string
  readonly exists: boolean
  readonly value: unknown
  /** Where our entry stands or would stand. */
  readonly path: readonly string[]
  /** What stands there. */
  readonly entry: unknown
}

/** Reads a client's file; one that its client could not read either is a fault that says where. */
export async function readClientText(client: KnownClient, file: string): Promise<ClientText> {
  const reading = await readDocument(file)
  if (reading.kind === 'absent') return clientText(client, { text: '', value: null }, false)
  if (reading.kind === 'broken') {
    const [first] = reading.problems
    const place = [file, first?.line, first?.column].filter((part) => part !== undefined).join(':')
    throw new Fault('CONFIG_EDIT', `${place}: ${first?.message ?? 'cannot be read'}`, {
      hint: `mend it by hand, then try again; ${client.title} cannot read it like this, and nothing was written`,
    })
  }
  return clientText(client, reading.document, true)
}

/** The text with our entry in it, in the place of one that was there. */
export async function withEntry(
  client: KnownClient,
  file: string,
  now: ClientText,
  entry: Record<string, unknown>,
): Promise<string> {
  const { path, text } = now
  checkContainer(client, file, now)
  const next =
    client.syntax === 'toml'
      ? onText(text, (body) => withTable(body, path, entry))
      : editText(text, client.syntax, [{ kind: 'set', path, value: entry }])
  return await checked(client, file, now, next, entry)
}

/**
 * The text without our entry; `former` is what stood there before us. `bare`: the place for servers was ours, too, so it
 * goes when nothing else is left in it.
 */
export async function withoutEntry(
  client: KnownClient,
  file: string,
  now: ClientText,
  { former, bare = false }: { readonly former?: unknown; readonly bare?: boolean } = {},
): Promise<string> {
  if (isRecord(former)) return await withEntry(client, file, now, former)
  const { path, text, value } = now
  if (client.syntax === 'toml')
    return await checked(
      client,
      file,
      now,
      onText(text, (body) => withoutTable(body, path)),
      undefined,
    )
  const siblings = dig(value, path.slice(0, -1))
  const alone = isRecord(siblings) && Object.keys(siblings).length === 1
  const gone = bare && alone ? path.slice(0, -1) : path
  const next = editText(text, client.syntax, [{ kind: 'delete', path: gone }])
  return await checked(client, file, now, next, undefined)
}

// --- internal ---

function clientText(
  client: KnownClient,
  { text, value }: Pick<Document, 'text' | 'value'>,
  exists: boolean,
): ClientText {
  const path = [...client.container(value), ENTRY_NAME]
  return { text, exists, value, path, entry: dig(value, path) }
}

/** Refuses a file that has something else where servers should stand. */
function checkContainer(client: KnownClient, file: string, { value, path }: ClientText): void {
  for (let depth = 0; depth < path.length; depth++) {
    const held = dig(value, path.slice(0, depth))
    if (held === undefined || held === null) return
    if (isRecord(held)) continue
    const where = depth === 0 ? 'what it holds' : path.slice(0, depth).join('.')
    const found = Array.isArray(held) ? 'a list' : `a ${typeof held}`
    throw new Fault('CONFIG_EDIT', `${file}: ${where} is ${found}, and servers stand in a map`, {
      hint: `mend it by hand, then try again; ${client.title} expects servers under ${path.slice(0, -1).join('.')}, and nothing was written`,
    })
  }
}

/** The mark at the start of a file is no part of it. */
function onText(text: string, change: (body: string) => string): string {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  return mark + change(text.slice(mark.length))
}

/** Reads the result back: our entry is as it should be, and all else as it was. */
async function checked(
  client: KnownClient,
  file: string,
  now: ClientText,
  next: string,
  wanted: unknown,
): Promise<string> {
  const reading = await parseDocument(file, next, client.syntax as Syntax)
  if (reading.kind === 'document') {
    const after = reading.document.value
    const entry = dig(after, now.path)
    if (
      isDeepStrictEqual(plain(entry), plain(wanted)) &&
      isDeepStrictEqual(rest(now.value, now.path), rest(after, now.path))
    )
      return next
  }
  throw new Fault('CONFIG_EDIT', `${file} is written in a way that cannot be changed without touching more`, {
    hint: `nothing was written; take "${ENTRY_NAME}" in or out of ${now.path.slice(0, -1).join('.')} by hand`,
  })
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

/** The data without our entry, nor the maps that only hold it. */
function rest(value: unknown, path: readonly string[]): unknown {
  const [step, ...further] = path
  if (!isRecord(value) || step === undefined) return value ?? undefined
  const inner = further.length === 0 ? undefined : rest(value[step], further)
  const others = Object.entries(value).filter(([key]) => key !== step)
  const kept = inner === undefined ? others : [...others, [step, inner] as const]
  return kept.length === 0 ? undefined : Object.fromEntries(kept.map(([key, item]) => [key, item]))
}
