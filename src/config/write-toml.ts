// What a person is told instead of an edit where the file is TOML.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Change, Path } from './edit/change.ts'

/** TOML has no editor that keeps what a person wrote, so the person gets the lines instead. */
export function tomlFault(file: string, changes: readonly Change[]): Fault {
  if (changes.some((change) => change.path[0] !== 'mcp_servers'))
    return new Fault('CONFIG_EDIT', `${file} is a Codex file, which holds servers and nothing else`, {
      hint: 'leave --config out; agents stand in busbar.yaml',
    })
  const lines = changes.flatMap((change) =>
    change.kind === 'set' ? tomlLines(change.path, change.value) : [],
  )
  const removed = changes.flatMap((change) =>
    change.kind === 'delete' ? [`[${tomlPath(change.path)}]`] : [],
  )
  const advice =
    lines.length > 0
      ? `put these lines into it:\n\n${lines.join('\n')}\n`
      : removed.length > 0
        ? `take this table out of it: ${removed.join(', ')}`
        : 'it holds nothing of the kind'
  return new Fault('CONFIG_EDIT', `${file} is TOML, which Busbar reads but does not rewrite`, {
    hint: advice,
    details: { lines, removed },
  })
}

/** A table's name. */
export function tomlPath(path: Path): string {
  return path.map(tomlKey).join('.')
}

/** A key, in quotes where it needs them. */
export function tomlKey(key: string | number): string {
  return /^[\w-]+$/.test(String(key)) ? String(key) : JSON.stringify(String(key))
}

/** A value on one line. */
export function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)} = ${tomlValue(item)}`)
    return `{ ${pairs.join(', ')} }`
  }
  return JSON.stringify(value)
}

// --- internal ---

/** The entry as Codex would have it: it names variables instead of writing templates. */
function tomlLines(path: Path, value: unknown): string[] {
  if (!isRecord(value))
    return [`[${tomlPath(path.slice(0, -1))}]`, `${tomlKey(path.at(-1) ?? '')} = ${tomlValue(value)}`]
  const { env, headers, description: _, category: __, type: ___, ...rest } = value
  const reference = /^\$\{(\w+)\}$/
  const named = Object.entries(isRecord(env) ? env : {}).filter(
    ([key, text]) => reference.exec(String(text))?.[1] === key,
  )
  const literal = Object.entries(isRecord(env) ? env : {}).filter(
    ([key]) => !named.some(([name]) => name === key),
  )
  const entries: [string, unknown][] = Object.entries(rest)
  if (named.length > 0) entries.push(['env_vars', named.map(([name]) => name)])
  if (literal.length > 0) entries.push(['env', Object.fromEntries(literal)])
  for (const [header, text] of Object.entries(isRecord(headers) ? headers : {})) {
    const bearer = /^Bearer \$\{(\w+)\}$/.exec(String(text))?.[1]
    const variable = reference.exec(String(text))?.[1]
    if (/^authorization$/i.test(header) && bearer) entries.push(['bearer_token_env_var', bearer])
    else entries.push([variable ? 'env_http_headers' : 'http_headers', { [header]: variable ?? text }])
  }
  return [`[${tomlPath(path)}]`, ...entries.map(([key, item]) => `${tomlKey(key)} = ${tomlValue(item)}`)]
}
