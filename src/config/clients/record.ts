// What was written into clients' files, so that it can be taken back: kept beside our other state, never in their folders.

import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../base/digest.ts'
import { type Places, prepareFolder } from '../../base/places.ts'
import { isRecord } from '../../base/record.ts'
import { readState, updateState } from '../../base/state-file.ts'
import { writeFileAtomic } from '../../base/write-file.ts'

export interface ClientRecord {
  readonly client: string
  /** The real file, behind all links. */
  readonly file: string
  readonly agent: string
  /** By which its token is known, which tells nothing of the token. */
  readonly tokenId: string
  /** SHA-256 of the file as we left it. */
  readonly digest: string
  /** The file's text before us, in a file of ours; absent when there was none. */
  readonly backup?: string | undefined
  /** The backup is no copy: the file had our entry already, which was taken out of it. */
  readonly rebuilt?: boolean | undefined
  /** The topmost folder that was made for it. */
  readonly madeFolder?: string | undefined
  readonly at: number
}

export function readClientRecords(places: Places): ClientRecord[] {
  return readState(recordFile(places), parse, () => [])
}

export function clientRecord(places: Places, client: string, file: string): ClientRecord | undefined {
  return readClientRecords(places).find((it) => it.client === client && it.file === file)
}

/** Remembers, or with `undefined` forgets, what was written to a client's file. */
export async function keepClientRecord(
  places: Places,
  client: string,
  file: string,
  record: ClientRecord | undefined,
): Promise<void> {
  await updateState(
    recordFile(places),
    parse,
    () => [],
    (all) => [
      ...all.filter((it) => it.client !== client || it.file !== file),
      ...(record === undefined ? [] : [record]),
    ],
  )
}

/** Keeps a text for an undo and tells the name under which it is kept. */
export function keepBackup(places: Places, client: string, file: string, text: string): string {
  const folder = backupFolder(places)
  prepareFolder(places.state)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const stamp = new Date().toISOString().replaceAll(':', '-')
  const name = `${client}-${sha256(file).slice(0, 8)}-${stamp}`
  // It may hold whatever the client's own file holds.
  writeFileAtomic(join(folder, name), text, { mode: 0o600 })
  return name
}

/** The text as it was; undefined when it was lost. */
export function readBackup(places: Places, name: string): string | undefined {
  const path = join(backupFolder(places), name)
  if (!existsSync(path)) return undefined
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(readFileSync(path))
}

export function dropBackup(places: Places, name: string | undefined): void {
  if (name !== undefined) rmSync(join(backupFolder(places), name), { force: true })
}

// --- internal ---

function backupFolder({ state }: Places): string {
  return join(state, 'client-backups')
}

function recordFile({ state }: Places): string {
  return join(state, 'clients.json')
}

function parse(value: unknown): ClientRecord[] {
  if (!Array.isArray(value)) throw new Error('no list')
  return value.map((it) => {
    if (!isRecord(it)) throw new Error('no record')
    const text = (key: string): string => {
      const found = it[key]
      if (typeof found !== 'string' || found.includes('\0')) throw new Error(`${key} is missing`)
      return found
    }
    const { backup, rebuilt, madeFolder, at } = it
    if (typeof backup === 'string' && !/^[\w.:-]+$/.test(backup)) throw new Error('no name of a backup')
    return {
      client: text('client'),
      file: text('file'),
      agent: text('agent'),
      tokenId: text('tokenId'),
      digest: text('digest'),
      at: typeof at === 'number' ? at : 0,
      ...(typeof backup === 'string' ? { backup } : {}),
      ...(rebuilt === true ? { rebuilt } : {}),
      ...(typeof madeFolder === 'string' ? { madeFolder } : {}),
    }
  })
}
