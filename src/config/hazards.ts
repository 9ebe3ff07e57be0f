// What a person should look at twice before trusting a server: flags, not verdicts.

import { basename } from 'node:path'
import { isRecord } from '../base/record.ts'
import type { Server } from './schema-server.ts'

const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'fish', 'ksh', 'cmd', 'cmd.exe', 'powershell', 'pwsh'])
const EVALUATES = new Map([
  ['node', ['-e', '--eval', '-p', '--print', '-r', '--require', '--import']],
  ['bun', ['-e', '--eval']],
  ['deno', ['eval']],
  ['python', ['-c']],
  ['perl', ['-e', '-E']],
  ['ruby', ['-e']],
  ['php', ['-r']],
  ['npx', ['-c', '--call']],
  ['npm', ['exec', '-c']],
])
/** Programs that run the program after them. */
const WRAPPERS = new Set(['env', 'nice', 'nohup', 'setsid', 'stdbuf', 'timeout', 'xargs'])
/** Variables that make a program load or run something else. */
const LOADERS =
  /^(?:NODE_OPTIONS|NODE_PATH|LD_PRELOAD|LD_LIBRARY_PATH|DYLD_\w+|PATH|PYTHONPATH|PYTHONSTARTUP|PERL5OPT|RUBYOPT|BASH_ENV|ENV|GIT_SSH_COMMAND|npm_config_\w+|(?:HTTPS?|ALL)_PROXY)$/i
const PACKAGE_RUNNERS = new Set(['npx', 'bunx', 'pnpx', 'uvx', 'pipx'])

/** Whether a variable can make a program run something; its value is then worth more shown than hidden. */
export function isLoader(name: string): boolean {
  return LOADERS.test(name)
}

/** Sentences about what is unusual in a definition. */
export function hazardsOf(server: Server): string[] {
  const { command, args, env, url, approval } = server
  const found = command === undefined ? [] : commandHazards(command, args)
  for (const name of Object.keys(env))
    if (isLoader(name)) found.push(`sets ${name}, which can make a program load or reach something else`)
  if (server.envFile !== undefined) found.push(`takes variables from ${server.envFile}`)
  if (url !== undefined && isPlain(url)) found.push('sends everything unencrypted (http)')
  if (approval === 'never') found.push('never asks before its tools are called')
  else if (typeof approval === 'object') {
    const free = Object.entries(approval).filter(([, verdict]) => verdict === 'allow')
    if (free.length > 0)
      found.push(`calls these tools without asking: ${free.map(([pattern]) => pattern).join(', ')}`)
  }
  if (server.trustAnnotations) found.push('lets the server say itself which of its tools are harmless')
  return found
}

/** Sentences about what the rest of a file would loosen or open. */
export function settingsHazards(settings: Readonly<Record<string, unknown>>): string[] {
  const found: string[] = []
  const { agents, defaults, gateway, steward } = settings
  if (isRecord(defaults) && defaults['approval'] === 'never')
    found.push('lets every call through without asking')
  for (const [name, agent] of Object.entries(isRecord(agents) ? agents : {})) {
    if (!isRecord(agent)) continue
    if (agent['approval'] === 'never') found.push(`lets the calls of ${name} through without asking`)
    if (agent['approver'] === 'client')
      found.push(`lets whoever sits at the client of ${name} approve its calls`)
    if (agent['energy'] === 'unlimited') found.push(`gives ${name} unlimited energy`)
    if (Array.isArray(agent['servers']) && agent['servers'].includes('*'))
      found.push(`gives ${name} every server`)
  }
  const host = isRecord(gateway) ? gateway['host'] : undefined
  if (typeof host === 'string' && !/^(?:127\.\d+\.\d+\.\d+|localhost|::1)$/.test(host))
    found.push(`listens on ${host}, where other machines can reach it`)
  if (isRecord(steward) && steward['approval'] === 'never')
    found.push('lets the steward change servers by itself')
  return found
}

// --- internal ---

function commandHazards(command: string, args: readonly string[]): string[] {
  const program = basename(command).toLowerCase()
  if (WRAPPERS.has(program)) {
    const inner = args.findIndex((argument) => !argument.startsWith('-') && !argument.includes('='))
    const found = inner < 0 ? [] : commandHazards(args[inner] ?? '', args.slice(inner + 1))
    return [`starts another program through ${program}`, ...found]
  }
  const found: string[] = []
  if (SHELLS.has(program)) found.push('runs a shell: anything written in its arguments is executed')
  const flags = EVALUATES.get(program.replace(/[\d.]+$/, '')) ?? []
  const flag = args.find((argument) => flags.includes(argument.split('=')[0] ?? ''))
  if (flag !== undefined) found.push(`runs code given on its command line (${program} ${flag})`)
  if (/^(?:docker|podman|nerdctl)$/.test(program)) {
    const line = args.join(' ')
    const wide =
      /--privileged|--(?:pid|net|network|ipc)[= ]host|docker\.sock|(?:-v|--volume)[= ]\/:|--cap-add/.exec(
        line,
      )
    if (wide) found.push(`gives the container power over this machine (${wide[0]})`)
  }
  if (program === 'sudo' || program === 'doas') found.push('asks for the rights of another user')
  const dlx = (program === 'pnpm' || program === 'yarn') && args[0] === 'dlx' ? args.slice(1) : undefined
  const packages = dlx ?? (PACKAGE_RUNNERS.has(program) ? args : undefined)
  return packages ? [...found, ...packageHazards(packages)] : found
}

function packageHazards(args: readonly string[]): string[] {
  const named = args.flatMap((argument, index) => {
    const [, inline] = /^(?:--package|--from|-p)=(.+)$/.exec(argument) ?? []
    if (inline !== undefined) return [inline]
    return /^(?:-p|--package|--from)$/.test(argument) ? [args[index + 1] ?? ''] : []
  })
  const first = args.find(
    (argument, index) =>
      !argument.startsWith('-') && !/^(?:-p|--package|--from)$/.test(args[index - 1] ?? ''),
  )
  const packages = named.length > 0 ? named : first === undefined ? [] : [first]
  return packages
    .filter((name) => /^[@\w.~/-][\w.~/@:+=#-]*$/.test(name))
    .flatMap((name) => {
      if (/^(?:git\+|https?:|github:|file:|\.{0,2}\/)/.test(name)) return [`fetches its program from ${name}`]
      return /.(?:@|==)v?\d+\.\d+/.test(name)
        ? []
        : [`runs whatever version of ${name} is newest (not pinned)`]
    })
}

/** Unencrypted, and not to this machine itself. */
function isPlain(url: string): boolean {
  if (!/^(?:http|ws):/i.test(url)) return false
  const host = URL.canParse(url) ? new URL(url).hostname : ''
  return !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host)
}
