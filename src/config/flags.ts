// `--mcp-server` flags and the MCP_* variables: configuration that stands in no file.

import { Fault } from '../base/fault.ts'
import type { Environment } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import { parseJsonDocument } from './document-json.ts'
import { Shape } from './formats/shape.ts'
import { type Problem, valueText } from './problem.ts'
import { type Tree, treeOf } from './tree.ts'

const FLAG = '--mcp-server'
const FORMS = 'name=command args…, name=url, name={json} or {"name": …, "command": …}'

/** The servers of all flags, as one map of entries by name. */
export function parseServerFlags(flags: readonly string[]): Record<string, unknown> {
  const servers: Record<string, unknown> = {}
  for (const flag of flags) {
    for (const [name, entry] of Object.entries(parseFlag(flag.trim()))) {
      if (Object.hasOwn(servers, name))
        throw new Fault('USAGE', `${FLAG} names "${name}" twice`, { hint: 'give each server once' })
      servers[name] = entry
    }
  }
  return servers
}

/** Splits a command line into words as a shell would, without doing anything else a shell does. */
function splitWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let index = 0; index < line.length; index++) {
    const letter = line.charAt(index)
    if (quote !== '') {
      if (letter === quote) quote = ''
      else if (letter === '\\' && quote === '"' && /["\\]/.test(line.charAt(index + 1)))
        word += line.charAt(++index)
      else word += letter
    } else if (letter === '"' || letter === "'") {
      quote = letter
      word ??= ''
    } else if (letter === '\\' && index + 1 < line.length) word = (word ?? '') + line.charAt(++index)
    else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + letter
  }
  if (quote !== '') throw new Fault('USAGE', `a ${quote} is not closed`)
  if (word !== undefined) words.push(word)
  return words
}

/** What the MCP_* variables say, over every file but the managed one. */
export function environmentTree(env: Environment): { tree: Tree | undefined; problems: Problem[] } {
  const shape = new Shape()
  const problems: Problem[] = []
  const read = (name: string, put: (on: boolean) => void) => {
    const value = env[name]?.trim().toLowerCase()
    if (!value) return
    if (/^(?:true|1|yes|on)$/.test(value)) put(true)
    else if (/^(?:false|0|no|off)$/.test(value)) put(false)
    else
      problems.push({
        severity: 'error',
        file: name,
        message: `is ${JSON.stringify(env[name])}; expected true or false`,
      })
  }
  read('MCP_TOOL_APPROVAL', (on) => {
    shape.put(['defaults', 'approval'], on ? 'always' : 'never', ['MCP_TOOL_APPROVAL'])
  })
  read('MCP_AUTO_DISCOVERY', (on) => {
    shape.put(['steward', 'autoDiscovery'], on, ['MCP_AUTO_DISCOVERY'])
  })
  if (Object.keys(shape.data).length === 0) return { tree: undefined, problems }
  const origin = { file: 'environment', scope: 'environment' as const, position: () => undefined }
  return { tree: treeOf(shape, origin), problems }
}

// --- internal ---

function parseFlag(flag: string): Record<string, unknown> {
  if (flag.startsWith('{')) return parseObject(flag, flag)
  const cut = flag.indexOf('=')
  const name = flag.slice(0, Math.max(cut, 0)).trim()
  const rest = flag.slice(cut + 1).trim()
  if (name === '' || rest === '')
    throw new Fault('USAGE', `${FLAG} ${valueText(flag)} was not understood`, { hint: `write ${FORMS}` })
  if (rest.startsWith('{')) return { [name]: parseJson(rest, flag) }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(rest)) return { [name]: { url: rest } }
  const [command, ...args] = splitWords(rest)
  return { [name]: { command, args } }
}

/** `{"name": "x", "command": …}`, or servers by name, bare or under a key that some client uses. */
function parseObject(text: string, flag: string): Record<string, unknown> {
  const value = parseJson(text, flag)
  if ('command' in value || 'url' in value) {
    const { name, ...entry } = value
    if (typeof name === 'string' && name !== '') return { [name]: entry }
    throw new Fault('USAGE', `${FLAG} was given JSON without a name`, { hint: `write ${FORMS}` })
  }
  const container = ['mcpServers', 'servers'].map((key) => value[key]).find(isRecord)
  return container ?? value
}

function parseJson(text: string, flag: string): Record<string, unknown> {
  const reading = parseJsonDocument(FLAG, text)
  if (reading.kind === 'document' && isRecord(reading.document.value)) return reading.document.value
  const reason = reading.kind === 'broken' ? reading.problems[0]?.message : 'expected an object'
  throw new Fault(
    'USAGE',
    `${FLAG} ${flag.slice(0, Math.max(flag.indexOf('='), 0))} is not valid JSON: ${reason}`,
    { hint: `write ${FORMS}` },
  )
}
