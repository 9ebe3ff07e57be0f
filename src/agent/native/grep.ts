// `grep`: lines of the workspace that fit a pattern, in time proportional to what is searched.

import { basename } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import type { RE2JS } from 're2js'
import { Fault } from '../../base/fault.ts'
import { matchesGlob } from '../../base/glob.ts'
import type { NativeTool } from '../../registry/native.ts'
import { readStart, textIn } from './text.ts'
import { filesUnder, MOST_ENTRIES } from './walk.ts'
import type { Workspace } from './workspace.ts'

/** `most`: entries of folders that are looked at. */
export function grepTool(
  workspace: Workspace,
  { most = MOST_ENTRIES }: { readonly most?: number } = {},
): NativeTool {
  return {
    name: 'grep',
    description:
      'Finds lines in text files of the workspace by a regular expression (RE2 syntax: no look-around, no references ' +
      'back). Leaves out .git, node_modules, binary files and those above 2 MB.',
    inputSchema: {
      type: 'object',
      properties: {
        pattern: { type: 'string', description: 'Regular expression.', maxLength: LONGEST_PATTERN },
        path: { type: 'string', description: 'File or folder to search; default: the workspace.' },
        files: { type: 'string', description: 'Names of files to search, such as *.ts.', maxLength: 200 },
        ignore_case: { type: 'boolean', description: 'Whether case does not count.' },
        limit: { type: 'integer', minimum: 1, maximum: 1000, description: 'Most lines; default 100.' },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: async (args, { signal }) => {
      const wanted = args as unknown as Wanted
      const search = new Search(await compile(wanted), wanted.limit ?? 100, signal)
      const start = await workspace.open(wanted.path ?? '.')
      await start.handle.close()
      const onMore = () => search.end(`there are more than ${most} files and folders`)
      const files = start.stats.isFile()
        ? [start.path]
        : filesUnder(workspace.root, start.path, { signal, most, onMore })
      for await (const file of files) {
        if (wanted.files !== undefined && !matchesGlob(wanted.files, basename(file))) continue
        if (!(await search.file(workspace, file))) break
      }
      return search.answer()
    },
  }
}

// --- internal ---

const LONGEST_PATTERN = 500
const LARGEST_PROGRAM = 2000
const LARGEST_FILE = 2 * 1024 * 1024
const MOST_BYTES = 256 * 1024 * 1024
const LONGEST_TIME = 20_000
/** Characters of a line that is searched, and of one that is shown. */
const LINE_SEARCHED = 10_000
const LINE_SHOWN = 400
/** Steps that one line may take, about 70 milliseconds: nothing else has its turn meanwhile. */
const MOST_STEPS = 1_000_000
/** Milliseconds of work before others have their turn. */
const TURN = 10

interface Wanted {
  readonly pattern: string
  readonly path?: string
  readonly files?: string
  readonly ignore_case?: boolean
  readonly limit?: number
}

async function compile({ pattern, ignore_case: ignoreCase }: Wanted): Promise<RE2JS> {
  if (pattern.length > LONGEST_PATTERN) throw new Fault('ARGUMENTS_INVALID', 'the pattern is too long')
  const { RE2JS } = await import('re2js')
  let compiled: RE2JS
  try {
    compiled = RE2JS.compile(RE2JS.translateRegExp(pattern), ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Fault('ARGUMENTS_INVALID', `the pattern cannot be used: ${reason}`)
  }
  if (compiled.programSize() > LARGEST_PROGRAM)
    throw new Fault('ARGUMENTS_INVALID', 'the pattern is too complicated')
  return compiled
}

class Search {
  readonly #pattern: RE2JS
  readonly #limit: number
  /** Each part of the pattern may be tried at each character, so the more there is of it, the shorter a line may be. */
  readonly #longest: number
  readonly #signal: AbortSignal
  readonly #began = performance.now()
  readonly #found: string[] = []
  #turn = performance.now()
  #bytes = 0
  #files = 0
  #long = 0
  /** Why it ended before everything was searched. */
  #ended: string | undefined

  constructor(pattern: RE2JS, limit: number, signal: AbortSignal) {
    this.#pattern = pattern
    this.#limit = limit
    this.#longest = Math.min(LINE_SEARCHED, Math.floor(MOST_STEPS / pattern.programSize()))
    this.#signal = signal
  }

  /** Searches one file; false when it is enough. */
  async file(workspace: Workspace, path: string): Promise<boolean> {
    const text = await this.#read(workspace, path)
    if (text === undefined) return this.#ended === undefined
    this.#files += 1
    let number = 0
    for (const line of text.split('\n')) {
      number += 1
      if (performance.now() - this.#turn > TURN) await this.#yield()
      if (this.#ended !== undefined) return false
      // Not cut: the end of a line is something that patterns ask for.
      if (line.length > this.#longest) this.#long += 1
      if (line.length > this.#longest || !this.#pattern.test(line)) continue
      if (this.#found.length >= this.#limit) {
        this.#ended = `there are more than ${this.#limit} lines`
        return false
      }
      this.#found.push(`${path}:${number}: ${line.trimEnd().slice(0, LINE_SHOWN)}`)
    }
    return true
  }

  /** Not everything is searched, for this reason. */
  end(why: string): void {
    this.#ended ??= why
  }

  answer(): string {
    const long = this.#long === 0 ? [] : [`${this.#long} lines are longer than ${this.#longest} characters`]
    const left = [...(this.#ended === undefined ? [] : [this.#ended]), ...long]
    const ended = left.length === 0 ? '' : `\n[not everything was searched: ${left.join('; ')}]`
    const { length } = this.#found
    if (length === 0) return `No line fits (${this.#files} files searched).${ended}`
    return `${this.#found.join('\n')}${ended}`
  }

  async #read(workspace: Workspace, path: string): Promise<string | undefined> {
    const opened = await workspace.open(path).catch((error: unknown) => {
      if (error instanceof Fault) return undefined
      throw error
    })
    if (opened === undefined) return undefined
    try {
      if (!opened.stats.isFile() || opened.stats.size > LARGEST_FILE) return undefined
      const bytes = await readStart(opened.handle, LARGEST_FILE, this.#signal)
      this.#bytes += bytes.length
      if (this.#bytes > MOST_BYTES) this.#ended = `the files are larger than ${MOST_BYTES} bytes`
      return textIn(bytes, bytes.length < LARGEST_FILE)
    } finally {
      await opened.handle.close()
    }
  }

  async #yield(): Promise<void> {
    await turn()
    this.#signal.throwIfAborted()
    this.#turn = performance.now()
    if (this.#turn - this.#began > LONGEST_TIME) this.#ended = `it took longer than ${LONGEST_TIME / 1000} s`
  }
}
