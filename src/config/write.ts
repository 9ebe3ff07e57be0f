// Changes a configuration file: under a lock, by splices, in one step, and never outside the folder it belongs to.

import { existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Fault } from '../base/fault.ts'
import { withLock } from '../base/lock.ts'
import { writeFileAtomic } from '../base/write-file.ts'
import { isInside } from './binary.ts'
import { parseDocument, readDocument, syntaxOf } from './document.ts'
import type { Change } from './edit/change.ts'
import { editText } from './edit/edit.ts'
import { detectFormat, FORMATS } from './formats/detect.ts'
import type { Target } from './plan.ts'
import { problemLine } from './problem.ts'
import { realPath } from './sources.ts'

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
  waiting: { readonly signal?: AbortSignal; readonly onWait?: (owner: string) => void } = {},
): Promise<Written> {
  const file = realTarget(target)
  prepare(dirname(file), target)
  const lock = join(dirname(file), `.${basename(file)}.lock`)
  return await withLock(lock, async () => await changeNow(file, target, plan), waiting)
}

// --- internal ---

async function changeNow(
  file: string,
  target: WriteTarget,
  plan: (file: Target) => Change[],
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
  const format = detectFormat(document.document, target.own) ?? FORMATS.busbar
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
  const after = next.endsWith('\n') || !created ? next : `${next}\n`
  writeFileAtomic(file, after, { mode: target.mode ?? 0o644 })
  return { file, created, changed: true, before: created ? '' : text, after }
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
  const isNew = !existsSync(folder)
  mkdirSync(folder, { recursive: true, mode: target.mode === 0o600 ? 0o700 : 0o755 })
  // What is local to this checkout stays out of the repository.
  if (isNew && basename(folder) === '.busbar') writeFileSync(join(folder, '.gitignore'), '*\n')
}

/** TOML has no editor that keeps what a person wrote, so the person gets the lines instead. */
function tomlFault(file: string, changes: readonly Change[]): Fault {
  const lines = changes.flatMap((change) =>
    change.kind === 'set' ? tomlLines(change.value, change.path.slice(-1).map(String)) : [],
  )
  const removed = changes.flatMap((change) =>
    change.kind === 'delete' ? [change.path.map(String).join('.')] : [],
  )
  const advice =
    lines.length > 0
      ? `add these lines to it:\n\n${lines.join('\n')}\n`
      : `take this out of it: ${removed.join(', ') || 'nothing'}`
  return new Fault('CONFIG_EDIT', `${file} is TOML, which Busbar reads but does not rewrite`, {
    hint: advice,
    details: { lines },
  })
}

function tomlLines(value: unknown, name: readonly string[]): string[] {
  const key = (text: string) => (/^[\w-]+$/.test(text) ? text : JSON.stringify(text))
  const lines = [`[mcp_servers.${name.map(key).join('.')}]`]
  for (const [word, item] of Object.entries(Object(value))) lines.push(`${key(word)} = ${tomlValue(item)}`)
  return lines
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)} = ${tomlValue(item)}`)
    return `{ ${pairs.join(', ')} }`
  }
  return JSON.stringify(value)
}
