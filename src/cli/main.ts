// The command line: finds the command, parses its words, runs it, and turns how it ended into an exit code.

import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import { VERSION } from '../base/version.ts'
import { type Command, commandHelp, type Group, groupHelp, parseWords } from './command.ts'
import { COMMANDS, type Entry } from './commands.ts'
import { EXIT, exitOf } from './exit.ts'
import { Interrupt } from './interrupt.ts'
import { Output } from './output.ts'

/** Runs one command line (without node and script) and returns the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const words = commandFirst(argv)
  const interrupt = new Interrupt()
  quietPipes()
  try {
    const code = await run(words, interrupt)
    return interrupt.code ?? code
  } catch (error) {
    const code = report(error, new Output({ json: isJson(words), color: colorOf(words) }))
    return interrupt.code ?? code
  }
}

// --- internal ---

async function run(argv: readonly string[], interrupt: Interrupt): Promise<number> {
  const [first, ...rest] = argv
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    const about = rest[0] === undefined || rest[0].startsWith('-') ? [] : rest
    process.stdout.write(about.length === 0 ? overview() : await helpFor(about))
    return EXIT.ok
  }
  if (first === '--version' || first === '-V') {
    process.stdout.write(`${VERSION}\n`)
    return EXIT.ok
  }
  const { name, spec, args } = await locate(first, rest)
  if (spec === undefined) {
    process.stdout.write(await helpFor([first]))
    return EXIT.ok
  }
  const { words, options } = parseWords(name, spec, args)
  if (options['help']) {
    process.stdout.write(commandHelp(name, spec))
    return EXIT.ok
  }
  const { Session } = await import('./session.ts')
  const session = new Session(options, interrupt, COMMANDS)
  try {
    await spec.run(session, words, options)
  } catch (error) {
    throw session.explained(error)
  }
  return process.exitCode === undefined ? EXIT.ok : Number(process.exitCode)
}

interface Located {
  readonly name: string
  /** Undefined for a group that was asked for nothing but help. */
  readonly spec: Command | undefined
  readonly args: readonly string[]
}

async function locate(first: string, rest: readonly string[]): Promise<Located> {
  const { spec } = await find(first).load()
  if (!isGroup(spec)) return { name: first, spec, args: rest }
  const { commands, fallback } = spec
  const { before, rest: after } = leadingGlobals(rest)
  const [sub, ...more] = after
  const isWord = sub !== undefined && !sub.startsWith('-')
  const chosen = isWord ? sub : fallback
  const isHelp = !isWord && (sub === '--help' || sub === '-h')
  if (chosen === undefined || isHelp) {
    if (!isHelp && before.length > 0)
      throw new Fault('USAGE', `busbar ${first} needs a command`, {
        hint: `there are: ${Object.keys(commands).join(', ')}`,
      })
    return { name: first, spec: undefined, args: rest }
  }
  const found = Object.hasOwn(commands, chosen) ? commands[chosen] : undefined
  if (found) return { name: `${first} ${chosen}`, spec: found, args: [...before, ...(isWord ? more : after)] }
  const near = nearest(chosen, Object.keys(commands))
  throw new Fault('USAGE', `busbar ${first} has no command "${chosen}"`, {
    hint: near ? `did you mean: busbar ${first} ${near}` : `there are: ${Object.keys(commands).join(', ')}`,
  })
}

function report(error: unknown, out: Output): number {
  if (error instanceof Fault) {
    out.fail(error)
    return exitOf(error)
  }
  if (error instanceof Error && error.name === 'AbortError') return EXIT.interrupted
  out.fail(error)
  if (error instanceof Error && error.stack)
    out.note(
      out.style('dim', `${error.stack}\nThis is a bug in Busbar. Please report it with the text above.`),
    )
  return EXIT.internal
}

function find(name: string): Entry {
  const entry = COMMANDS.find((candidate) => candidate.name === name)
  if (entry) return entry
  const near = nearest(
    name,
    COMMANDS.map((candidate) => candidate.name),
  )
  throw new Fault('USAGE', name.startsWith('-') ? `unknown option ${name}` : `unknown command "${name}"`, {
    hint: near ? `did you mean: busbar ${near}` : 'run: busbar --help',
  })
}

async function helpFor([name = '', sub]: readonly string[]): Promise<string> {
  const entry = find(name)
  const { spec } = await entry.load()
  if (!isGroup(spec)) return commandHelp(name, spec)
  const found = sub !== undefined && Object.hasOwn(spec.commands, sub) ? spec.commands[sub] : undefined
  return found ? commandHelp(`${name} ${sub}`, found) : groupHelp(name, entry.summary, spec)
}

function overview(): string {
  const width = Math.max(...COMMANDS.map((entry) => entry.name.length))
  return [
    'Busbar: one place between AI agents and MCP servers.',
    '',
    'Usage: busbar COMMAND [options]',
    '',
    ...COMMANDS.map((entry) => `  ${entry.name.padEnd(width)}  ${entry.summary}`),
    '',
    'Every command takes --json, --config PATH, --mcp-server SERVER, --trust and --help.',
    '',
    'Examples:',
    '  busbar import                     take over the servers your other tools know',
    '  busbar add files -- npx -y @modelcontextprotocol/server-filesystem .',
    '  busbar add docs https://example.com/mcp',
    '  busbar list --check',
    '  busbar call files/list_directory path=.',
    '',
  ].join('\n')
}

function isGroup(spec: Command | Group): spec is Group {
  return 'commands' in spec
}

/** Global options may stand before the command. */
function commandFirst(argv: readonly string[]): string[] {
  const { before, rest } = leadingGlobals(argv)
  const [command, ...words] = rest
  return command === undefined ? [] : [command, ...before, ...words]
}

/** Splits off the global options, with their values, that stand before the first word. */
function leadingGlobals(argv: readonly string[]): { before: string[]; rest: readonly string[] } {
  const before: string[] = []
  let index = 0
  for (; index < argv.length; index++) {
    const word = argv[index] ?? ''
    if (/^--(?:json|trust|no-color)$|^--(?:config|mcp-server)=/.test(word)) before.push(word)
    else if (word === '--config' || word === '--mcp-server') before.push(word, argv[++index] ?? '')
    else break
  }
  return { before, rest: argv.slice(index) }
}

function isJson(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return words.slice(0, end < 0 ? words.length : end).includes('--json')
}

function colorOf(words: readonly string[]): boolean {
  return Boolean(process.stderr.isTTY) && !process.env['NO_COLOR'] && !words.includes('--no-color')
}

/** `busbar list | head -1` closes our stdout early; that is no error. */
function quietPipes(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(EXIT.ok)
      if (stream === process.stdout)
        process.stderr.write(`error: the answer could not be written (${error.code})\n`)
      process.exit(EXIT.usage)
    })
}
