// The command line: finds the command, parses its words, runs it, and turns how it ended into an exit code.

import { Command, CommanderError, Option } from 'commander'
import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import { COMMANDS, type Entry } from './commands.ts'
import { EXIT, exitCode } from './exit.ts'
import { Output } from './output.ts'
import { type GlobalOptions, Session } from './session.ts'
import { VERSION } from './version.ts'

/** Runs one command line (without node and script) and returns the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const words = commandFirst(argv)
  const stop = new AbortController()
  quietPipes()
  process.once('SIGINT', () => {
    stop.abort()
    // Locks and drafts are cleaned up by exit hooks.
    process.exit(EXIT.cancelled)
  })
  process.once('SIGTERM', () => process.exit(143))
  let session: Session | undefined
  try {
    const [first, ...rest] = words
    if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
      await help(first === undefined ? [] : rest)
      return EXIT.ok
    }
    if (first === '--version' || first === '-V') {
      process.stdout.write(`${VERSION}\n`)
      return EXIT.ok
    }
    const command = await define(find(first), (options) => {
      session ??= new Session(options, stop.signal)
      return session
    })
    await command.parseAsync(rest, { from: 'user' })
    return process.exitCode === undefined ? EXIT.ok : Number(process.exitCode)
  } catch (error) {
    return report(error, session?.out ?? new Output({ json: isJson(words), color: process.stderr.isTTY }))
  }
}

// --- internal ---

function report(error: unknown, out: Output): number {
  if (error instanceof CommanderError) {
    // Help and the like have been printed already.
    if (error.exitCode === 0) return EXIT.ok
    out.fail(usageFault(error))
    return EXIT.usage
  }
  if (error instanceof Fault) {
    out.fail(error)
    return exitCode(error.code)
  }
  if (error instanceof Error && error.name === 'AbortError') return EXIT.cancelled
  out.fail(error)
  if (!out.json && error instanceof Error && error.stack)
    out.note(out.style('dim', `${error.stack}\nThis is a bug in Busbar. Please report it with the text above.`))
  return EXIT.internal
}

function usageFault(error: CommanderError): Fault {
  const message = error.message.replace(/^error: /, '').replace(/\n\(Did you mean (.*)\?\)$/, ' (did you mean $1?)')
  const unknownOption = error.code === 'commander.unknownOption'
  return new Fault('USAGE', message, {
    hint: unknownOption
      ? 'run it with --help; options of a server\'s own command go after --'
      : 'run it with --help',
  })
}

function find(name: string): Entry {
  const entry = COMMANDS.find((candidate) => candidate.name === name)
  if (entry) return entry
  const near = nearest(name, COMMANDS.map((candidate) => candidate.name))
  throw new Fault('USAGE', name.startsWith('-') ? `unknown option ${name}` : `unknown command "${name}"`, {
    hint: near ? `did you mean: busbar ${near}` : 'run: busbar --help',
  })
}

async function define(entry: Entry, session: (options: GlobalOptions) => Session): Promise<Command> {
  const command = new Command(entry.name).description(`${entry.summary.charAt(0).toUpperCase()}${entry.summary.slice(1)}.`)
  const module = await entry.load()
  // Commander prints an error before it throws; `report` prints it once, in the right form.
  command.configureOutput({ writeErr: () => {}, outputError: () => {} }).exitOverride().copyInheritedSettings
  const current = { options: {} as GlobalOptions }
  module.define(command, () => session(current.options))
  for (const each of [command, ...command.commands]) {
    addGlobalOptions(each)
    each.exitOverride().configureOutput({ writeErr: () => {}, outputError: () => {} })
    each.hook('preAction', (_, action) => {
      current.options = action.optsWithGlobals()
    })
  }
  // `parent.name() sub` in usage lines needs the program's name in front.
  new Command('busbar').addCommand(command)
  return command
}

function addGlobalOptions(command: Command): void {
  command
    .addOption(new Option('--json', 'answer as JSON').helpGroup('Global options:'))
    .addOption(
      new Option('--config <path>', 'read this file instead of the user, project and local ones').helpGroup(
        'Global options:',
      ),
    )
    .addOption(
      new Option('--mcp-server <server>', 'a further server: JSON, name=command args, or name=url (repeatable)')
        .argParser((value: string, before: string[] | undefined) => [...(before ?? []), value])
        .helpGroup('Global options:'),
    )
    .addOption(new Option('--trust', 'accept what the configuration would run, as it is now').helpGroup('Global options:'))
    .addOption(new Option('--no-color', 'plain text').helpGroup('Global options:'))
}

async function help(words: readonly string[]): Promise<void> {
  const [name, ...rest] = words
  if (name !== undefined) {
    const command = await define(find(name), (options) => new Session(options, new AbortController().signal))
    const target = command.commands.find((sub) => sub.name() === rest[0]) ?? command
    process.stdout.write(target.helpInformation())
    return
  }
  const width = Math.max(...COMMANDS.map((entry) => entry.name.length))
  process.stdout.write(
    [
      'Busbar: one place between AI agents and MCP servers.',
      '',
      'Usage: busbar COMMAND [options]',
      '',
      ...COMMANDS.map((entry) => `  ${entry.name.padEnd(width)}  ${entry.summary}`),
      '',
      'Every command takes --json, --config PATH, --mcp-server SERVER, --trust and --help.',
      '',
      'Examples:',
      '  busbar import                                   take over the servers your other tools know',
      '  busbar add files -- npx -y @modelcontextprotocol/server-filesystem .',
      '  busbar add docs https://example.com/mcp',
      '  busbar list',
      '',
    ].join('\n'),
  )
}

/** Global options may stand before the command; commander wants them after it. */
function commandFirst(argv: readonly string[]): string[] {
  const before: string[] = []
  let index = 0
  for (; index < argv.length; index++) {
    const word = argv[index] ?? ''
    if (word === '--json' || word === '--trust' || word === '--no-color' || /^--(?:config|mcp-server)=/.test(word))
      before.push(word)
    else if (word === '--config' || word === '--mcp-server') before.push(word, argv[++index] ?? '')
    else break
  }
  const [command, ...rest] = argv.slice(index)
  return command === undefined ? before : [command, ...before, ...rest]
}

function isJson(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return words.slice(0, end < 0 ? words.length : end).includes('--json')
}

/** `busbar list | head -1` closes our stdout early; that is no error. */
function quietPipes(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(EXIT.ok)
      throw error
    })
}
