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
  import: 'clients',
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
    const script = shell === 'words' ? `${(await complete(words, commands)).join('\n')}\n` : scriptFor(shell)
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

/** What may follow these words. */
async function complete(words: readonly string[], commands: readonly Entry[]): Promise<string[]> {
  const [name, sub] = words.filter((word) => !word.startsWith('-'))
  const entry = commands.find((candidate) => candidate.name === name)
  if (!entry) return commands.map((candidate) => candidate.name)
  if (entry.name === 'completion') return ['bash', 'zsh', 'fish']
  const { spec: found } = await entry.load()
  const flags = (options: object) => Object.keys({ ...options, ...GLOBAL_OPTIONS }).map((key) => `--${key}`)
  if (!('commands' in found)) return [...(await names(entry.name, sub)), ...flags(found.options)]
  const child = sub === undefined ? undefined : found.commands[sub]
  if (!child) return Object.keys(found.commands)
  return [...(await names(entry.name, sub)), ...flags(child.options)]
}

async function names(command: string, sub: string | undefined): Promise<string[]> {
  if (command === 'integrations' && sub === 'add') {
    const { CATALOG } = await import('../../config/catalog.ts')
    return CATALOG.map((entry) => entry.name)
  }
  const kind =
    command === 'integrations' && sub === 'remove'
      ? 'servers'
      : command === 'agents' && sub === 'remove'
        ? 'agents'
        : NAMED[command]
  if (kind === undefined) return []
  const snapshot = await loadConfig()
  // Only names that mean nothing to a shell.
  const plain = (names: Iterable<string>) => [...names].filter((name) => NAME.test(name))
  if (kind === 'agents') return plain(Object.keys(snapshot.config.agents))
  if (kind === 'servers') return plain(snapshot.servers.keys())
  const { clientsOf } = await import('../../config/clients.ts')
  return clientsOf(snapshot.places, snapshot.root).map((client) => client.id)
}
