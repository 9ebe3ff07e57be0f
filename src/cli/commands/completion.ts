// `busbar completion bash|zsh|fish`: commands and options are written into the script, names are asked for when needed.

import { Fault } from '../../base/fault.ts'
import { loadConfig } from '../../config/load.ts'
import { NAME } from '../../config/schema-values.ts'
import { command, GLOBAL_OPTIONS } from '../command.ts'
import type { Entry } from '../commands.ts'

const NAMED: Readonly<Record<string, 'servers' | 'agents' | 'catalog' | 'clients'>> = {
  get: 'servers',
  remove: 'servers',
  enable: 'servers',
  disable: 'servers',
  trust: 'servers',
  list: 'servers',
  tools: 'servers',
  resources: 'servers',
  read: 'servers',
  prompts: 'servers',
  restart: 'servers',
  import: 'clients',
  connect: 'clients',
}

export const spec = command({
  summary: 'shell completion',
  words: '<bash|zsh|fish> [words...]',
  help: `
Examples:
  busbar completion bash >> ~/.bashrc
  busbar completion zsh > "\${fpath[1]}/_busbar"
  busbar completion fish > ~/.config/fish/completions/busbar.fish`,
  run: async ({ commands }, [shell = '', ...words]) => {
    const script =
      shell === 'words'
        ? (await complete(words, commands)).map((word) => `${word}\n`).join('')
        : scriptFor(shell)
    process.stdout.write(script)
  },
})

// --- internal ---

function scriptFor(shell: string): string {
  switch (shell) {
    case 'bash':
      // Not `compgen -W`: it expands its words, and they are names from files nobody may have trusted.
      return `_busbar() {
  local word current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS= read -r word; do
    [[ $word == "$current"* ]] && COMPREPLY+=("$word")
  done < <(busbar completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
}
complete -o default -F _busbar busbar
`
    case 'zsh':
      return `#compdef busbar
_busbar() {
  local -a found
  found=("\${(@f)$(busbar completion words -- "\${words[@]:1:$((CURRENT-2))}" 2>/dev/null)}")
  compadd -a found
  _files
}
compdef _busbar busbar
`
    case 'fish':
      return `complete -c busbar -f -a '(busbar completion words -- (commandline -opc)[2..-1] 2>/dev/null)'
`
    default:
      throw new Fault('USAGE', `"${shell}" is not a shell Busbar knows`, { hint: 'use bash, zsh or fish' })
  }
}

/** What may follow these words; nothing, where the shell's own completion of files is meant. */
async function complete(typed: readonly string[], commands: readonly Entry[]): Promise<string[]> {
  const { words, config, open } = understand(typed)
  if (open !== undefined) return await optionValues(open, config)
  const [name, sub] = words
  const entry = commands.find((candidate) => candidate.name === name)
  if (!entry) return commands.map((candidate) => candidate.name)
  if (entry.name === 'completion') return ['bash', 'zsh', 'fish']
  const { spec: found } = await entry.load()
  const flags = (options: object) => Object.keys({ ...options, ...GLOBAL_OPTIONS }).map((key) => `--${key}`)
  if (!('commands' in found)) return [...(await names(entry.name, sub, config)), ...flags(found.options)]
  const child = sub !== undefined && Object.hasOwn(found.commands, sub) ? found.commands[sub] : undefined
  if (!child) return Object.keys(found.commands)
  return [...(await names(entry.name, sub, config)), ...flags(child.options)]
}

/** Options of any command that take a value. */
const VALUES = new Set([
  '--config',
  '--mcp-server',
  '--scope',
  '-s',
  '--transport',
  '-t',
  '--agent',
  '--server',
  '--timeout',
  '--output',
  '-o',
  '-e',
  '-H',
])

/** The words that are no options, the configuration they name, and an option that still waits for its value. */
function understand(typed: readonly string[]): {
  words: string[]
  config: string | undefined
  open: string | undefined
} {
  const words: string[] = []
  let config: string | undefined
  let open: string | undefined
  for (const word of typed) {
    if (open !== undefined) {
      if (open === '--config') config = word
      open = undefined
    } else if (VALUES.has(word)) open = word
    else if (word.startsWith('--config=')) config = word.slice('--config='.length)
    else if (!word.startsWith('-')) words.push(word)
  }
  return { words, config, open }
}

async function optionValues(option: string, config: string | undefined): Promise<string[]> {
  if (option === '--scope' || option === '-s') return ['project', 'user', 'local']
  if (option === '--transport' || option === '-t') return ['stdio', 'http', 'sse', 'websocket']
  if (option !== '--agent' && option !== '--server') return []
  const snapshot = await loadConfig({ config })
  return plain(option === '--agent' ? Object.keys(snapshot.config.agents) : snapshot.servers.keys())
}

/** Only names that mean nothing to a shell. */
function plain(names: Iterable<string>): string[] {
  return [...names].filter((name) => NAME.test(name))
}

async function names(
  command: string,
  sub: string | undefined,
  config: string | undefined,
): Promise<string[]> {
  if (command === 'integrations' && sub === 'add') {
    const { CATALOG } = await import('../../config/catalog.ts')
    return CATALOG.map((entry) => entry.name)
  }
  if (command === 'secrets') return await secretNames(sub, config)
  if (command === 'call') return sub === undefined ? await addresses(config) : []
  const kind =
    command === 'integrations' && sub === 'remove'
      ? 'servers'
      : command === 'agents' && sub === 'remove'
        ? 'agents'
        : NAMED[command]
  if (kind === undefined) return []
  const snapshot = await loadConfig({ config })
  if (kind === 'agents') return plain(Object.keys(snapshot.config.agents))
  if (kind === 'servers') return plain(snapshot.servers.keys())
  if (command === 'connect') {
    const { knownClients } = await import('../../config/clients/known.ts')
    return knownClients(snapshot.places, snapshot.root, snapshot.env).map((client) => client.id)
  }
  const { clientsOf } = await import('../../config/clients.ts')
  return clientsOf(snapshot.places, snapshot.root).map((client) => client.id)
}

/** What the configuration names. What is kept is not asked for: that would take the key. */
async function secretNames(sub: string | undefined, config: string | undefined): Promise<string[]> {
  if (sub === 'protect') return ['keyring', 'file', 'passphrase']
  if (sub !== 'set' && sub !== 'remove') return []
  const { secretUse } = await import('../secret-use.ts')
  return [...secretUse(await loadConfig({ config })).keys()]
}

/** Tools that are known from earlier runs, by their addresses; of other servers the beginning of one. */
async function addresses(config: string | undefined): Promise<string[]> {
  const [{ Manager }, { VERSION }, snapshot] = await Promise.all([
    import('../../connect/manager.ts'),
    import('../../base/version.ts'),
    loadConfig({ config }),
  ])
  const unused = () => {
    throw new Error('completion starts nothing')
  }
  const context = {
    client: { name: 'busbar', version: VERSION },
    handlers: {},
    instance: () => undefined,
    ledger: unused,
    signingIn: {
      secrets: unused,
      isKept: () => false,
      closing: new AbortController().signal,
      renewals: new Set<Promise<unknown>>(),
    },
  }
  const manager = new Manager(snapshot.places, context, () => undefined)
  manager.apply(snapshot, { start: false })
  return manager.connections.flatMap(({ name, tools }) =>
    plain([name]).flatMap(() =>
      tools.length === 0
        ? [`${name}/`]
        : plain(tools.map((tool) => tool.name)).map((tool) => `${name}/${tool}`),
    ),
  )
}
