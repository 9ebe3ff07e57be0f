// What a command is: its words, its options, its help, and what it does. Parsing is Node's own.

import { parseArgs } from 'node:util'
import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import type { Session } from './session.ts'

interface OptionSpec {
  readonly short?: string
  /** What stands for the value in help; an option without it is a switch. */
  readonly value?: string
  /** May be given more than once. */
  readonly many?: boolean
  readonly about: string
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

/** The values of options, by name, as their specs promise. */
export type Options<T extends OptionSpecs> = {
  readonly [K in keyof T]?: T[K] extends { value: string }
    ? T[K] extends { many: true }
      ? readonly string[]
      : string
    : boolean
}

export interface Command {
  readonly summary: string
  /** `<name> [more...]`: what must and what may follow. */
  readonly words?: string
  /** Said instead of naming the word that is too many, where that may be a secret. */
  readonly tooMany?: { readonly message: string; readonly hint: string }
  readonly options: OptionSpecs
  /** Further help, and examples. */
  readonly help: string
  readonly run: (session: Session, words: readonly string[], options: Options<OptionSpecs>) => Promise<void>
}

/** A command with commands below it. */
export interface Group {
  readonly commands: Readonly<Record<string, Command>>
  /** The one that is meant when none is named. */
  readonly fallback?: string
}

/** Defines a command whose `run` gets its options typed by their specs. */
export function command<const T extends OptionSpecs>(spec: {
  readonly summary: string
  readonly words?: string
  readonly tooMany?: Command['tooMany'] & object
  readonly options?: T
  readonly help: string
  readonly run: (session: Session, words: readonly string[], options: Options<T>) => Promise<void>
}): Command {
  // parseWords yields exactly what the specs say, which the common type cannot express.
  return { ...spec, options: spec.options ?? {}, run: spec.run as Command['run'] }
}

export const GLOBAL_OPTIONS: OptionSpecs = {
  json: { about: 'answer as JSON' },
  config: { value: 'path', about: 'read this file instead of the user, project and local ones' },
  'mcp-server': {
    value: 'server',
    many: true,
    about: 'a further server: JSON, name=command args, or name=url (repeatable)',
  },
  trust: { about: 'accept what the configuration would run, as it is now' },
  'no-color': { about: 'plain text' },
  help: { short: 'h', about: 'this text' },
}

export interface Parsed {
  readonly words: readonly string[]
  readonly options: Options<OptionSpecs>
}

/** Parses what follows the command's name; what does not fit is a fault that names the way out. */
export function parseWords(name: string, spec: Command, argv: readonly string[]): Parsed {
  const specs = { ...spec.options, ...GLOBAL_OPTIONS }
  const options = Object.fromEntries(
    Object.entries(specs).map(([key, { short, value, many }]) => [
      key,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: many === true,
        ...(short ? { short } : {}),
      },
    ]),
  )
  let parsed: { values: Record<string, unknown>; positionals: string[] }
  try {
    parsed = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw usageFault(error, name, Object.keys(specs))
  }
  if (parsed.values['help'] !== true) checkWords(name, spec, parsed.positionals)
  // Node checked each value against its spec.
  return { words: parsed.positionals, options: parsed.values as Options<OptionSpecs> }
}

/** The help of one command. */
export function commandHelp(name: string, spec: Command): string {
  const rows = (specs: OptionSpecs) =>
    Object.entries(specs).map(([key, { short, value, about }]) => {
      const flags = `${short ? `-${short}, ` : '    '}--${key}${value ? ` <${value}>` : ''}`
      return `  ${flags.padEnd(30)} ${about}`
    })
  const own = rows(spec.options)
  return [
    `Usage: busbar ${name}${spec.words ? ` ${spec.words}` : ''} [options]`,
    '',
    `${capital(spec.summary)}.`,
    ...(own.length > 0 ? ['', 'Options:', ...own] : []),
    '',
    'Global options:',
    ...rows(GLOBAL_OPTIONS),
    '',
    spec.help.trim(),
    '',
  ].join('\n')
}

/** The help of a group. */
export function groupHelp(name: string, summary: string, group: Group): string {
  const width = Math.max(...Object.keys(group.commands).map((key) => key.length))
  return [
    `Usage: busbar ${name} COMMAND [options]`,
    '',
    `${capital(summary)}.`,
    '',
    ...Object.entries(group.commands).map(([key, spec]) => `  ${key.padEnd(width)}  ${spec.summary}`),
    '',
    `Help for one: busbar ${name} COMMAND --help`,
    '',
  ].join('\n')
}

// --- internal ---

function checkWords(name: string, { words = '', tooMany }: Command, given: readonly string[]): void {
  const wanted = words.split(' ').filter((word) => word !== '')
  const required = wanted.filter((word) => word.startsWith('<'))
  const missing = required[given.length]
  if (missing !== undefined)
    throw new Fault('USAGE', `busbar ${name} needs ${missing}`, { hint: `busbar ${name} ${words}` })
  const empty = required.find((_, index) => given[index]?.trim() === '')
  if (empty !== undefined)
    throw new Fault('USAGE', `busbar ${name} needs ${empty}, and it is empty`, {
      hint: `busbar ${name} ${words}`,
    })
  const extra = given[wanted.length]
  if (extra !== undefined && tooMany) throw new Fault('USAGE', tooMany.message, { hint: tooMany.hint })
  if (extra !== undefined && !words.includes('...'))
    throw new Fault('USAGE', `busbar ${name} takes no "${extra}"`, { hint: `busbar ${name} ${words}`.trim() })
}

function usageFault(error: unknown, name: string, known: readonly string[]): Fault {
  if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')))
    throw error
  const ambiguous = /^Option '(?:-., )?(-[^ ']*)[^']*' argument is ambiguous/.exec(error.message)?.[1]
  if (ambiguous !== undefined)
    return new Fault('USAGE', `${ambiguous} wants a value, and what follows begins with a dash`, {
      hint: `if that is the value: ${ambiguous}=-VALUE; else: busbar ${name} --help`,
    })
  const unknown = /Unknown option '(-{1,2}[^']*)'/.exec(error.message)?.[1]
  const help = `busbar ${name} --help`
  if (unknown === undefined)
    return new Fault('USAGE', error.message.split('. ')[0] ?? error.message, { hint: help })
  if (/^-\d/.test(unknown))
    return new Fault('USAGE', `${unknown} is read as an option`, {
      hint: `a word that begins with a dash goes after --; see: ${help}`,
    })
  const near = unknown.startsWith('--') ? nearest(unknown.slice(2), known) : undefined
  return new Fault('USAGE', `busbar ${name} has no option ${unknown}`, {
    hint: near ? `did you mean --${near}?` : `${help}; options of a server's own command go after --`,
  })
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
