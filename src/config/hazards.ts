// What a person should look at twice before trusting a server: flags, not verdicts.

import { basename } from 'node:path'
import type { Server } from './schema-server.ts'

const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'fish', 'ksh', 'cmd', 'cmd.exe', 'powershell', 'pwsh'])
const EVALUATES: Readonly<Record<string, readonly string[]>> = {
  node: ['-e', '--eval', '-p', '--print', '-r', '--require', '--import'],
  bun: ['-e', '--eval'],
  deno: ['eval'],
  python: ['-c'],
  python3: ['-c'],
  perl: ['-e', '-E'],
  ruby: ['-e'],
  php: ['-r'],
  npx: ['-c', '--call'],
  npm: ['exec', '-c'],
}
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
  const found: string[] = []
  const { command, args, env, url, approval } = server
  if (command !== undefined) {
    const program = basename(command).toLowerCase()
    if (SHELLS.has(program)) found.push('runs a shell: anything written in its arguments is executed')
    const flag = args.find((argument) => EVALUATES[program]?.includes(argument.split('=')[0] ?? ''))
    if (flag !== undefined) found.push(`runs code given on its command line (${program} ${flag})`)
    if (/^(?:docker|podman)$/.test(program)) {
      const wide = args.find((argument) =>
        /^--(?:privileged|pid=host|net(?:work)?=host)$|docker\.sock/.test(argument),
      )
      if (wide !== undefined) found.push(`gives the container power over this machine (${wide})`)
    }
    if (program === 'sudo' || program === 'doas') found.push('asks for the rights of another user')
    if (PACKAGE_RUNNERS.has(program)) found.push(...packageHazards(args))
  }
  for (const name of Object.keys(env))
    if (isLoader(name)) found.push(`sets ${name}, which can make a program load or reach something else`)
  if (url !== undefined && /^(?:http|ws):\/\/(?!localhost|127\.|\[::1\])/i.test(url))
    found.push('sends everything unencrypted (http)')
  if (approval === 'never') found.push('never asks before its tools are called')
  else if (typeof approval === 'object') {
    const free = Object.entries(approval).filter(([, verdict]) => verdict === 'allow')
    if (free.length > 0)
      found.push(`calls these tools without asking: ${free.map(([pattern]) => pattern).join(', ')}`)
  }
  if (server.trustAnnotations) found.push('lets the server say itself which of its tools are harmless')
  return found
}

// --- internal ---

function packageHazards(args: readonly string[]): string[] {
  const name = args.find(
    (argument, index) =>
      !argument.startsWith('-') && !/^(?:-p|--package|--from)$/.test(args[index - 1] ?? ''),
  )
  const from = args.find((argument) =>
    /^(?:git\+|https?:|github:|file:)/.test(argument.replace(/^--(?:from|package)=/, '')),
  )
  if (from !== undefined) return [`fetches its program from ${from}`]
  const pinned = name !== undefined && /.(?:@|==)v?\d+\.\d+/.test(name)
  return pinned || name === undefined ? [] : [`runs whatever version of ${name} is newest (not pinned)`]
}
