// Stands in for the programs that open a browser: notes how it was called, and lets our own browser go there.
import { appendFile, chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type BrowseOptions, browse, type Page } from './browse.ts'
import { listen, readBody } from './listener.ts'

export interface OpenerOptions {
  /** Goes on to the page like a person would, declining or as somebody else if told; without it nobody looks. */
  visit?: BrowseOptions | true
  /** What the program ends with; 0 unless told. */
  exitCode?: number
}

/** One call of the program. */
interface Opened {
  /** `xdg-open` or `open`. */
  program: string
  /** Its arguments, exactly as it got them. */
  args: string[]
}

export interface Opener {
  /** Holds the programs and nothing else. */
  folder: string
  /** A PATH that finds them first. */
  path: string
  /** Every call so far, in their order, as the programs wrote them to a file. */
  opened(): Promise<Opened[]>
  /** Where the n-th visit ends (the first is 0); waits for the call if there was none yet. */
  visit(index?: number): Promise<Page>
  close(): Promise<void>
}

const PROGRAMS = ['xdg-open', 'open']

/** The programs are real executables, to be put on the PATH of a child process; the visiting happens in this one. */
export async function startOpener(options: OpenerOptions = {}): Promise<Opener> {
  const root = await mkdtemp(join(tmpdir(), 'busbar-opener-'))
  const folder = join(root, 'bin')
  const log = join(root, 'opened.jsonl')
  await appendFile(log, '')
  const visits = new Visits(options.visit)
  const listener = await listen(() => async (request, response) => {
    const { args }: Opened = JSON.parse(await readBody(request))
    visits.begin(args.at(-1) ?? '')
    response.writeHead(204).end()
  })
  await makePrograms(folder, { log, report: listener.origin, exitCode: options.exitCode ?? 0 })
  return {
    folder,
    path: [folder, process.env['PATH']].join(delimiter),
    opened: async () =>
      (await readFile(log, 'utf8'))
        .split('\n')
        .filter((line) => line !== '')
        .map((line): Opened => JSON.parse(line)),
    visit: (index = 0) => visits.at(index),
    close: async () => {
      await visits.stop()
      await listener.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}

// --- internal ---

class Visits {
  readonly #how: BrowseOptions | true | undefined
  readonly #abort = new AbortController()
  readonly #pages: Promise<Page>[] = []
  readonly #waiting: { index: number; resolve(page: Promise<Page>): void; reject(error: Error): void }[] = []

  constructor(how: BrowseOptions | true | undefined) {
    this.#how = how
  }

  begin(url: string): void {
    if (this.#how === undefined) return
    const page = browse(url, { ...(this.#how === true ? {} : this.#how), signal: this.#abort.signal })
    // Whoever asks for the page sees what became of it; nobody has to ask.
    page.catch(() => {})
    const index = this.#pages.push(page) - 1
    for (const one of this.#waiting) if (one.index === index) one.resolve(page)
  }

  at(index: number): Promise<Page> {
    const known = this.#pages[index]
    if (known !== undefined) return known
    return new Promise((resolve, reject) => this.#waiting.push({ index, resolve, reject }))
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    for (const { reject } of this.#waiting) reject(new Error('the opener was closed before it was called'))
    await Promise.allSettled(this.#pages)
  }
}

async function makePrograms(
  folder: string,
  { log, report, exitCode }: { log: string; report: string; exitCode: number },
): Promise<void> {
  await mkdir(folder)
  for (const program of PROGRAMS) {
    const file = join(folder, program)
    // The interpreter by its full path: the child's PATH may hold nothing but this folder.
    const source = `#!${process.execPath}
const { appendFileSync } = require('node:fs')
const call = JSON.stringify({ program: ${JSON.stringify(program)}, args: process.argv.slice(2) })
appendFileSync(${JSON.stringify(log)}, call + '\\n')
process.exitCode = ${exitCode}
void fetch(${JSON.stringify(report)}, { method: 'POST', body: call })
`
    await writeFile(file, source)
    await chmod(file, 0o755)
  }
}
