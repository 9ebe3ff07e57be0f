// Agents, their workers and their servers, in the native form and in the `integrations:` form.

import { isRecord } from '../../base/record.ts'
import { nearest } from '../../base/suggest.ts'
import { type Document, problemIn } from '../document.ts'
import type { Path } from '../edit/change.ts'
import { kindText, type Problem, valueText } from '../problem.ts'
import type { Format } from './detect.ts'
import type { Shape } from './shape.ts'

/** The `agents:` section. `mcp_servers` is a synonym of `servers`; workers may be a map or a list of maps. */
export function readAgents(document: Document, format: Format, shape: Shape, problems: Problem[]): void {
  const agents = isRecord(document.value) ? document.value['agents'] : undefined
  if (agents === undefined || agents === null) return
  if (!isRecord(agents)) {
    problems.push(
      problemIn(document, ['agents'], `is ${valueText(agents)}; expected a map of agents by name`),
    )
    return
  }
  for (const [name, raw] of Object.entries(agents))
    readAgent(document, format, shape, problems, raw ?? {}, ['agents', name], ['agents', name])
}

/** The rest of the `integrations:` section: master switch, per-agent lists, defaults, Composio. */
export function readIntegrations(document: Document, shape: Shape, problems: Problem[]): void {
  const section = isRecord(document.value) ? document.value['integrations'] : undefined
  if (!isRecord(section)) {
    problems.push(problemIn(document, ['integrations'], `is ${valueText(section)}; expected a map`))
    return
  }
  for (const [key, value] of Object.entries(section)) {
    const from = ['integrations', key]
    if (key === 'servers' || value === null) continue
    if (key === 'enabled') shape.put(['enabled'], value, from)
    else if (key === 'default_servers') {
      if (Array.isArray(value)) shape.append(['defaults', 'servers'], value, from)
      else shape.put(['defaults', 'servers'], value, from)
    } else if (key === 'per_agent') readPerAgent(document, shape, problems, value)
    else if (key === 'composio') readComposio(shape, value, from)
    else {
      const near = nearest(key, ['enabled', 'servers', 'per_agent', 'default_servers', 'composio'])
      const hint = near ? { hint: `did you mean "${near}"?` } : {}
      problems.push({ ...problemIn(document, from, 'is not a known key'), ...hint })
    }
  }
}

// --- internal ---

function readAgent(
  document: Document,
  format: Format,
  shape: Shape,
  problems: Problem[],
  raw: unknown,
  from: Path,
  target: Path,
): void {
  if (!isRecord(raw)) {
    problems.push(problemIn(document, from, `is ${kindText(raw)}; expected a map`))
    return
  }
  shape.ensure(target, {}, from)
  for (const [key, value] of Object.entries(raw)) {
    if (value === null) continue
    const place = [...from, key]
    if (key === 'servers' || key === 'mcp_servers')
      readServerNames(shape, [...target, 'servers'], value, place)
    else if (key === 'workers') readWorkers(document, format, shape, problems, value, place, target)
    else if (format.strict && format.id !== 'aicib') shape.put([...target, key], value, place)
    else if (AGENT_KEYS.has(key)) shape.put([...target, key], value, place)
    else {
      const near = nearest(key, ['mcp_servers', 'workers', 'enabled'])
      if (near)
        problems.push({
          ...problemIn(document, place, 'is not a known key'),
          severity: 'warning',
          hint: `did you mean "${near}"?`,
        })
    }
  }
}

/** In somebody's company file an agent has keys that are none of our business. */
const AGENT_KEYS = new Set([
  'allow',
  'approval',
  'approver',
  'deny',
  'enabled',
  'energy',
  'model',
  'naming',
  'surface',
  'token',
])

function readServerNames(shape: Shape, target: Path, value: unknown, from: Path): void {
  if (Array.isArray(value)) shape.append(target, value, from)
  else if (typeof value === 'string') shape.append(target, [value], from)
  else shape.put(target, value, from)
}

function readWorkers(
  document: Document,
  format: Format,
  shape: Shape,
  problems: Problem[],
  value: unknown,
  from: Path,
  agent: Path,
): void {
  const read = (name: string, raw: unknown, place: Path) =>
    readAgent(document, format, shape, problems, raw ?? {}, place, [...agent, 'workers', name])
  if (isRecord(value)) {
    for (const [name, raw] of Object.entries(value)) read(name, raw, [...from, name])
    return
  }
  if (!Array.isArray(value)) {
    problems.push(problemIn(document, from, `is ${valueText(value)}; expected a map of workers by name`))
    return
  }
  value.forEach((item, index) => {
    const place = [...from, index]
    if (typeof item === 'string') read(item, {}, place)
    else if (isRecord(item) && typeof item['name'] === 'string') {
      const { name, ...raw } = item
      read(item['name'], raw, place)
    } else if (isRecord(item))
      for (const [name, raw] of Object.entries(item)) read(name, raw, [...place, name])
    else problems.push(problemIn(document, place, `is ${valueText(item)}; expected a worker`))
  })
}

/** `per_agent` may name an agent, a worker of one, or an agent that stands nowhere else. */
function readPerAgent(document: Document, shape: Shape, problems: Problem[], value: unknown): void {
  const from = ['integrations', 'per_agent']
  if (!isRecord(value)) {
    problems.push(problemIn(document, from, `is ${valueText(value)}; expected a map of lists by agent`))
    return
  }
  const agents = isRecord(document.value) ? document.value['agents'] : undefined
  for (const [name, list] of Object.entries(value)) {
    if (list === null) continue
    const place = [...from, name]
    const owner = isRecord(agents) && !(name in agents) ? workerOwner(agents, name) : undefined
    const target = owner === undefined ? ['agents', name] : ['agents', owner, 'workers', name]
    readServerNames(shape, [...target, 'servers'], list, place)
  }
}

function workerOwner(agents: Record<string, unknown>, worker: string): string | undefined {
  return Object.keys(agents).find((agent) => {
    const raw = agents[agent]
    const workers = isRecord(raw) ? raw['workers'] : undefined
    if (isRecord(workers)) return worker in workers
    if (!Array.isArray(workers)) return false
    return workers.some(
      (item) => item === worker || (isRecord(item) && (item['name'] === worker || worker in item)),
    )
  })
}

function readComposio(shape: Shape, value: unknown, from: Path): void {
  if (!isRecord(value)) {
    shape.put(['composio'], value, from)
    return
  }
  shape.put(['composio'], {}, from)
  for (const [key, item] of Object.entries(value))
    if (item !== null) shape.put(['composio', key === 'api_key' ? 'apiKey' : key], item, [...from, key])
}
