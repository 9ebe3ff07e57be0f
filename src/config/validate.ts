// Checks of one layer against the schema, and of the merged whole: that names in lists are known and every server says
// what to run or where to connect.

import * as z from 'zod/mini'
import { isGlob } from '../base/glob.ts'
import { nearest } from '../base/suggest.ts'
import { CATALOG } from './catalog.ts'
import type { Path } from './edit/change.ts'
import type { Format } from './formats/detect.ts'
import { problemAt, problemsOf } from './issues.ts'
import { type Problem, valueText } from './problem.ts'
import { fileSchema, settingsSchema } from './schema.ts'
import { agentSchema } from './schema-agent.ts'
import { type Server, serverSchema, transportOf } from './schema-server.ts'
import { NAME, NAME_RULE } from './schema-values.ts'
import { isOfProgram, leaves, plain, subtree, type Tree, without, withoutAll } from './tree.ts'

export interface Checked {
  /** The layer without the entries that have problems. */
  readonly tree: Tree
  readonly problems: readonly Problem[]
  readonly broken: ReadonlyMap<string, readonly Problem[]>
  /** The sound servers as the schema reads them. */
  readonly parsed: ReadonlyMap<string, Server>
  /** Agents and defaults that have problems, each as a tree of its own: what their lists name is still checked. */
  readonly leftOut: readonly Tree[]
}

/** Checks a layer entry by entry; what fails is taken out and named. */
export function checkLayer(layer: Tree, format: Format): Checked {
  let tree = layer
  const problems: Problem[] = []
  const broken = new Map<string, readonly Problem[]>()
  const leftOut: Tree[] = []
  const parsed = new Map<string, Server>()
  for (const name of keys(layer, ['servers'])) {
    const result = serverSchema.safeParse(plainAt(layer, ['servers', name]))
    if (result.success) parsed.set(name, result.data)
    const found = checkServer(layer, name, format, result).map((problem) => ({ ...problem, server: name }))
    for (const problem of found) problems.push(problem)
    if (found.length === 0) continue
    broken.set(name, found)
  }
  tree = withoutAll(tree, 'servers', new Set(broken.keys()))
  for (const name of keys(layer, ['agents'])) {
    const found = [
      ...checkName(layer, ['agents', name], name, format),
      ...check(agentSchema, layer, ['agents', name]),
    ]
    problems.push(...found.map((problem) => ({ ...problem, agent: name })))
    if (found.length === 0) continue
    tree = without(tree, ['agents', name])
    leftOut.push(only(layer, ['agents', name]))
  }
  const settings = without(without(layer, ['servers']), ['agents'])
  const result = settingsSchema.safeParse(plain(settings))
  if (result.success) return { tree, problems, broken, leftOut, parsed }
  for (const problem of problemsOf(result.error, fileSchema, settings, [])) problems.push(problem)
  for (const issue of result.error.issues) {
    const unknown = issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : []
    for (const key of issue.path.length > 0 ? [String(issue.path[0])] : unknown) {
      if (key === 'defaults' && subtree(tree, [key])) leftOut.push(only(layer, [key]))
      tree = without(tree, [key])
    }
  }
  return { tree, problems, broken, leftOut, parsed }
}

/** A merged server that cannot be started or reached as it stands. */
export function checkComplete(tree: Tree, name: string): Problem[] {
  const path = ['servers', name]
  const has = (key: string) => subtree(tree, [...path, key]) !== undefined
  const type = subtree(tree, [...path, 'type'])
  const transport = transportOf({
    type: type?.kind === 'value' ? (type.value as never) : undefined,
    command: has('command') || undefined,
    url: has('url') || undefined,
  })
  const say = (message: string, hint?: string): Problem[] => [
    problemAt(tree, path, message, { server: name, ...(hint ? { hint } : {}) }),
  ]
  if (has('command') && has('url')) return say('has both command and url; a server is one or the other')
  switch (transport) {
    case undefined:
      return say('needs a command (to start it) or a url (to reach it)', catalogHint(name))
    case 'stdio':
      return has('command') ? [] : say('needs a command, because its type is stdio')
    case 'sdk':
      if (type && isOfProgram(type.place.origin)) return checkShare(tree, path)
      return say('has type sdk, which exists only inside a program that uses the library')
    case 'claudeai-proxy':
      if (!has('id')) return say('needs an id, because its type is claudeai-proxy')
      return has('url') ? [] : say('needs a url, because its type is claudeai-proxy')
    default:
      return has('url') ? checkUrl(tree, name) : say(`needs a url, because its type is ${transport}`)
  }
}

/** Names in lists that stand for no server, and a lead that is no agent. */
export function checkNames(tree: Tree, leftOut: readonly Tree[], known: ReadonlySet<string>): Problem[] {
  const agents = new Set([tree, ...leftOut].flatMap((it) => keys(it, ['agents'])))
  return [...[...leftOut, tree].flatMap((it) => checkLists(it, known)), ...checkLead(tree, agents)]
}

/** Every text of a subtree that refers to a variable, with its path; used to name the line of a missing one. */
export function texts(tree: Tree): { text: string; at: Tree }[] {
  const found: { text: string; at: Tree }[] = []
  for (const { tree: leaf } of leaves(tree)) {
    const items = leaf.kind === 'list' ? leaf.items : [leaf]
    for (const item of items)
      if (item.kind === 'value' && typeof item.value === 'string') found.push({ text: item.value, at: item })
  }
  return found
}

// --- internal ---

/** A server object of a program is there once, whoever calls it. */
function checkShare(tree: Tree, path: Path): Problem[] {
  const share = subtree(tree, [...path, 'share'])
  if (share === undefined || (share.kind === 'value' && share.value === 'process')) return []
  return [
    problemAt(
      tree,
      [...path, 'share'],
      `is ${valueText(share.kind === 'value' ? share.value : undefined)}, but a server inside a program is one object and cannot be two`,
      {
        server: String(path.at(-1)),
        hint: 'leave share out, or run the server as a process of its own',
      },
    ),
  ]
}

function checkLists(tree: Tree, known: ReadonlySet<string>): Problem[] {
  const problems: Problem[] = []
  const names = new Set([...known, ...CATALOG.map((entry) => entry.name)])
  const lists: { path: Path; agent?: string }[] = [{ path: ['defaults', 'servers'] }]
  for (const agent of keys(tree, ['agents'])) {
    lists.push({ path: ['agents', agent, 'servers'], agent })
    for (const worker of keys(tree, ['agents', agent, 'workers']))
      lists.push({ path: ['agents', agent, 'workers', worker, 'servers'], agent })
  }
  for (const { path, agent } of lists) {
    if (agent !== undefined) problems.push(...checkPatterns(tree, path.slice(0, -1), agent, names))
    const list = subtree(tree, path)
    if (list?.kind !== 'list') continue
    list.items.forEach((item, index) => {
      const name = plain(item)
      if (typeof name !== 'string' || names.has(name) || isGlob(name)) return
      const near = nearest(name, names)
      const hint = near ? `did you mean "${near}"?` : `known servers: ${listed(known) || 'none'}`
      const extra = agent === undefined ? { hint, alone: true } : { hint, agent }
      problems.push(
        problemAt(tree, [...path, index], `is ${valueText(name)}, which is no known server`, extra),
      )
    })
  }
  return problems
}

/** `allow` and `deny` name tools as `server/tool`; a server that does not exist is probably a slip. */
function checkPatterns(tree: Tree, holder: Path, agent: string, names: ReadonlySet<string>): Problem[] {
  return ['allow', 'deny'].flatMap((key) => {
    const list = subtree(tree, [...holder, key])
    return (list?.kind === 'list' ? list.items : []).flatMap((item, index): Problem[] => {
      const [server = ''] = String(plain(item)).split('/')
      if (isGlob(server) || names.has(server)) return []
      const near = nearest(server, names)
      const extra = {
        severity: 'warning' as const,
        agent,
        ...(near ? { hint: `did you mean "${near}"?` } : {}),
      }
      return [problemAt(tree, [...holder, key, index], `names "${server}", which is no known server`, extra)]
    })
  })
}

function checkServer(
  layer: Tree,
  name: string,
  format: Format,
  result: ReturnType<typeof serverSchema.safeParse>,
): Problem[] {
  const path = ['servers', name]
  const issues = result.success ? [] : problemsOf(result.error, serverSchema, layer, path)
  const problems = [...checkName(layer, path, name, format), ...issues]
  if (problems.length > 0) return problems
  const stdio = subtree(layer, [...path, 'command']) !== undefined
  if (format.id === 'aicib' && stdio && subtree(layer, [...path, 'args']) === undefined)
    return [problemAt(layer, path, 'needs args next to its command (an empty list will do)')]
  // In our own format an entry may only adjust the one of a lower layer; elsewhere it must be whole.
  return format.id === 'busbar' ? [] : checkComplete(layer, name)
}

function checkName(layer: Tree, path: Path, name: string, format: Format): Problem[] {
  const reserved = name === '__proto__' || name === 'constructor' || name === 'prototype'
  const printable = /^[^\p{C}\p{Z}/](?:[^\p{C}\p{Zl}\p{Zp}/]{0,126}[^\p{C}\p{Z}/])?$/u
  if (reserved) return [problemAt(layer, path, 'is a reserved word; use another name')]
  // A line that only adjusts a server of another tool's file must be able to name it.
  const adjusts = ['command', 'url'].every((key) => subtree(layer, [...path, key]) === undefined)
  if ((format.id === 'busbar' && !adjusts ? NAME : printable).test(name)) return []
  return [problemAt(layer, path, `is not a usable name (${NAME_RULE})`)]
}

function check(schema: z.core.$ZodType, layer: Tree, path: Path): Problem[] {
  const result = z.safeParse(schema, plainAt(layer, path))
  return result.success ? [] : problemsOf(result.error, schema, layer, path)
}

function plainAt(tree: Tree, path: Path): unknown {
  const at = subtree(tree, path)
  return at && plain(at)
}

function checkUrl(tree: Tree, server: string): Problem[] {
  const path = ['servers', server, 'url']
  const at = subtree(tree, path)
  const url = at && plain(at)
  // A reference is looked at when it is filled in.
  if (typeof url !== 'string' || /[${]/.test(url)) return []
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed && /^(?:https?|wss?|unix):$/.test(parsed.protocol)) return []
  return [problemAt(tree, path, `is ${valueText(url)}; expected an http(s) or ws(s) address`, { server })]
}

function checkLead(tree: Tree, agents: ReadonlySet<string>): Problem[] {
  const lead = subtree(tree, ['lead'])
  const name = lead && plain(lead)
  if (typeof name !== 'string' || agents.has(name)) return []
  const near = nearest(name, agents)
  const hint = near ? `did you mean "${near}"?` : `known agents: ${listed(agents) || 'none'}`
  return [
    problemAt(tree, ['lead'], `is ${valueText(name)}, which is no known agent`, {
      hint,
      severity: 'warning',
    }),
  ]
}

/** The layer with nothing in it but what stands at a path of map keys. */
function only(layer: Tree, path: Path): Tree {
  const [step, ...rest] = path
  const child = layer.kind === 'map' && step !== undefined ? layer.entries.get(String(step)) : undefined
  if (layer.kind !== 'map' || child === undefined) return layer
  return { ...layer, entries: new Map([[String(step), only(child, rest)]]) }
}

function catalogHint(name: string): string | undefined {
  return CATALOG.some((entry) => entry.name === name)
    ? `remove the entry and run: busbar integrations add ${name}`
    : undefined
}

function keys(tree: Tree, path: Path): string[] {
  const at = subtree(tree, path)
  return at?.kind === 'map' ? [...at.entries.keys()] : []
}

function listed(names: ReadonlySet<string>): string {
  return [...names].slice(0, 12).join(', ')
}
