// Changes a configuration file: under a lock, by splices, in one step, and never outside the folder it belongs to.

import { existsSync, lstatSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Fault } from '../base/fault.ts'
import { withLock } from '../base/lock.ts'
import { makeFolder, WRITABLE } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import { writeFileAtomic } from '../base/write-file.ts'
import { isInside } from './binary.ts'
import { canonical } from './canonical.ts'
import { type Document, parseDocument, readDocument, syntaxOf } from './document.ts'
import type { Change } from './edit/change.ts'
import { editText } from './edit/edit.ts'
import { detectFormat, FORMATS, type Format } from './formats/detect.ts'
import { readFormat } from './formats/read.ts'
import type { Target } from './plan.ts'
import { problemLine } from './problem.ts'
import { realPath } from './sources.ts'
import { tomlFault } from './write-toml.ts'

export interface WriteTarget {
  readonly file: string
  /** A link may lead to another file in this folder, never out of it. */
  readonly boundary: string
  /** The file stands where only our native format is expected. */
  readonly own: boolean
  /** Permissions of a new file. */
  readonly mode?: number
  /** Text a new file begins with. */
  readonly start?: string
}

/** What an edit is meant to change; anything else that changes with it, through an anchor, is refused. */
export interface Meant {
  readonly servers?: readonly string[]
  readonly agents?: readonly string[] | 'all'
}

interface WriteOptions {
  readonly meant: Meant
  /** Goes all the way but for the writing, to see whether it would work. */
  readonly dryRun?: boolean
  readonly signal?: AbortSignal
  readonly onWait?: (owner: string) => void
}

export interface Written {
  readonly file: string
  readonly created: boolean
  readonly changed: boolean
  /** The texts between which the change was made, under the lock. */
  readonly before: string
  readonly after: string
}

/** Applies what `plan` wants of the file as it is when the lock is held. A file in another tool's format is refused. */
export async function changeFile(
  target: WriteTarget,
  plan: (file: Target) => Change[],
  options: WriteOptions,
): Promise<Written> {
  const file = realTarget(target)
  try {
    return await lockAndChange(file, target, plan, options)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (error instanceof Fault || !/^(?:EACCES|EPERM|EROFS|ENOSPC|EDQUOT|ENOTDIR|EISDIR)$/.test(reason))
      throw error
    throw new Fault('CONFIG_EDIT', `${file} cannot be written (${reason})`, {
      hint: 'check the permissions of the file and its folder; nothing was changed',
      cause: error,
    })
  }
}

// --- internal ---

async function lockAndChange(
  file: string,
  target: WriteTarget,
  plan: (file: Target) => Change[],
  { meant, dryRun = false, ...waiting }: WriteOptions,
): Promise<Written> {
  prepare(dirname(file), target)
  const lock = join(dirname(file), `.${basename(file)}.lock`)
  return await withLock(lock, async () => await changeNow(file, target, plan, { meant, dryRun }), waiting)
}

async function changeNow(
  file: string,
  target: WriteTarget,
  plan: (file: Target) => Change[],
  { meant, dryRun = false }: WriteOptions,
): Promise<Written> {
  const reading = await readDocument(file)
  if (reading.kind === 'broken') {
    const [first] = reading.problems
    throw new Fault('CONFIG_EDIT', first ? problemLine(first) : `${file} cannot be read`, {
      hint: 'mend the file first; nothing was changed',
    })
  }
  const created = reading.kind === 'absent'
  const text = created ? (target.start ?? '') : reading.document.text
  const syntax = syntaxOf(file, text)
  const document = created ? await parseDocument(file, text, syntax) : reading
  if (document.kind !== 'document') throw new Error(`the text a new ${file} begins with does not parse`)
  const { value } = document.document
  const format = formatOf(document.document, target)
  if (!format.ours && syntax !== 'toml')
    throw new Fault(
      'CONFIG_EDIT',
      `${file} belongs to another tool (${format.title}); Busbar only reads it`,
      {
        hint: 'write to a file of our own: leave --config out, or choose a scope with -s',
      },
    )
  const changes = plan({ format, value })
  if (syntax === 'toml') throw tomlFault(file, changes)
  const next = editText(text, syntax, changes)
  if (next === text && !created) return { file, created: false, changed: false, before: text, after: text }
  await refuseOthers(document.document, next, format, meant)
  const after = next.endsWith('\n') || !created ? next : `${next}\n`
  if (!dryRun) writeFileAtomic(file, after, { mode: target.mode ?? 0o644 })
  return { file, created, changed: true, before: created ? '' : text, after }
}

/** The format of a file to be changed; a file that holds something else altogether is not ours to write to. */
function formatOf(document: Document, target: WriteTarget): Format {
  const format = detectFormat(document, target.own)
  const { value } = document
  const isEmpty = value === null || (isRecord(value) && Object.keys(value).length === 0)
  if (format) return format
  if (isEmpty) return FORMATS.busbar
  throw new Fault('CONFIG_EDIT', `${document.file} is no configuration of servers`, {
    hint: 'name another file, or leave --config out',
  })
}

/** Anchors and merges let one place stand for several: an edit of one must not become an edit of all. */
async function refuseOthers(before: Document, text: string, format: Format, meant: Meant): Promise<void> {
  const reading = await parseDocument(before.file, text)
  if (reading.kind !== 'document') throw new Error(`an edit broke ${before.file}`)
  const read = (document: Document, section: string) => {
    const found = readFormat(document, format, '').shape.get([section])
    return isRecord(found) ? found : {}
  }
  for (const [section, allowed] of [
    ['servers', meant.servers ?? []],
    ['agents', meant.agents ?? []],
  ] as const) {
    if (allowed === 'all') continue
    const old = read(before, section)
    const now = read(reading.document, section)
    const changed = [...new Set([...Object.keys(old), ...Object.keys(now)])].find(
      (name) => !allowed.includes(name) && canonical(old[name]) !== canonical(now[name]),
    )
    if (changed === undefined) continue
    throw new Fault(
      'CONFIG_EDIT',
      `${before.file}: this would change ${section}.${changed} too, which shares the lines`,
      {
        hint: 'nothing was written; make the change by hand (an anchor such as &name is used in several places)',
      },
    )
  }
}

/** Follows a link only as far as the boundary: an edit must not land in somebody's shell profile. */
function realTarget({ file, boundary }: WriteTarget): string {
  const edge = realPath(boundary)
  const real = existsSync(file) ? realPath(file) : join(nearestReal(dirname(file)), basename(file))
  const link = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  const lost = link && !existsSync(file)
  if (!lost && isInside(real, edge)) return real
  throw new Fault(
    'CONFIG_EDIT',
    `${file} leads to ${lost ? 'a file that does not exist' : real}, outside ${edge}`,
    {
      hint: lost ? 'remove the link' : `to change that file, name it: --config ${real}`,
    },
  )
}

/** The real name of a folder that may not exist yet. */
function nearestReal(folder: string): string {
  if (existsSync(folder) || dirname(folder) === folder) return realPath(folder)
  return join(nearestReal(dirname(folder)), basename(folder))
}

function prepare(folder: string, target: WriteTarget): void {
  const trouble = makeFolder(folder, target.mode === 0o600 ? 0o700 : 0o755)
  if (trouble !== undefined)
    throw new Fault('CONFIG_EDIT', `${folder} cannot be made: ${trouble}`, {
      hint: `name another file with --config, or ${WRITABLE}`,
    })
  // What is local to this checkout stays out of the repository.
  const ignore = join(folder, '.gitignore')
  if (basename(folder) === '.busbar' && !existsSync(ignore)) writeFileSync(ignore, '*\n')
}
