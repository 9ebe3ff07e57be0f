// `read_file`: lines of a text file of the workspace, or the names in a folder.

import { readdir } from 'node:fs/promises'
import { Fault } from '../../base/fault.ts'
import type { NativeTool } from '../../registry/native.ts'
import { readStart, textIn } from './text.ts'
import { type Opened, shown, type Workspace } from './workspace.ts'

export function readFileTool(workspace: Workspace): NativeTool {
  return {
    name: 'read_file',
    description:
      'Reads a text file of the workspace, or lists a folder. Long files come in parts: ask for the next with `from`.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path in the workspace; `.` is the workspace itself.' },
        from: { type: 'integer', minimum: 1, description: 'First line; default 1.' },
        lines: { type: 'integer', minimum: 1, maximum: 10_000, description: 'How many; default 2000.' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: async (args, { signal }) => {
      const { path, from = 1, lines = 2000 } = args as { path: string; from?: number; lines?: number }
      const opened = await workspace.open(path)
      try {
        if (opened.stats.isDirectory()) return await listing(opened)
        return await part(opened, { from, lines, signal })
      } finally {
        await opened.handle.close()
      }
    },
  }
}

// --- internal ---

/** Bytes that are looked through for the lines asked for. */
const MOST_READ = 16 * 1024 * 1024
/** Characters that are given at once. */
const MOST_GIVEN = 200_000
const MOST_NAMES = 1000

interface Wanted {
  readonly from: number
  readonly lines: number
  readonly signal: AbortSignal
}

async function part({ handle, stats, path }: Opened, { from, lines, signal }: Wanted): Promise<string> {
  const bytes = await readStart(handle, MOST_READ, signal)
  const whole = bytes.length < MOST_READ
  const text = textIn(bytes, whole)
  if (text === undefined) return `${shown(path)} is a binary file of ${stats.size} bytes, and is not shown.`
  const all = text.split('\n')
  // What follows the last line break is no line.
  if (whole && all.at(-1) === '') all.pop()
  if (all.length === 0) return `${shown(path)} is empty.`
  if (from > all.length) throw new Fault('ARGUMENTS_INVALID', `${shown(path)} has ${all.length} lines`)
  const given = all.slice(from - 1, from - 1 + lines)
  const joined = given.join('\n')
  const cut = joined.length > MOST_GIVEN
  const shownText = cut ? joined.slice(0, MOST_GIVEN) : joined
  const last = cut ? from - 1 + shownText.split('\n').length : from - 1 + given.length
  if (!cut && last >= all.length && whole) return shownText
  const total = whole ? `${all.length}` : `more than ${all.length}`
  return `${shownText}\n\n[lines ${from} to ${last} of ${total}${cut ? '; the last one is cut' : ''}; go on with from: ${cut && last > from ? last : last + 1}]`
}

async function listing({ path, place }: Opened): Promise<string> {
  const entries = await readdir(place, { withFileTypes: true })
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
  if (names.length === 0) return `${shown(path)} is an empty folder.`
  const more = names.length > MOST_NAMES ? `\n[and ${names.length - MOST_NAMES} more]` : ''
  return `${names.slice(0, MOST_NAMES).join('\n')}${more}`
}
