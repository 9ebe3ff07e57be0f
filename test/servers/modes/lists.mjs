// Servers whose lists are long, endless, or change.
import { setTimeout as rest } from 'node:timers/promises'
import { face } from '../methods.mjs'
import { schema, text } from '../protocol.mjs'
import { tool } from './parts.mjs'
import { plain } from './plain.mjs'

/** 250 tools in pages of 50. */
function pages() {
  const numbered = Array.from({ length: 250 }, (_, index) => {
    const name = `tool-${String(index).padStart(3, '0')}`
    return tool(name, `Tool number ${index}`, () => text(name))
  })
  return { ...plain(), tools: numbered, pageSize: 50 }
}

/** A cursor on every page: `--case same` always the same one, otherwise always a new one; `slow` takes its time. */
function endlessPages({ case: variant, delay }) {
  const base = plain()
  let page = 0
  const list = async (_params, call) => {
    page++
    if (variant === 'slow') await rest(delay)
    const one = tool(`page-${page}`, 'One of many', () => text('page'))
    return {
      tools: variant === 'same' ? base.tools.map(face) : [face(one)],
      nextCursor: variant === 'same' ? 'again' : `page-${page}`,
      ...(call.modern && { ttlMs: 0, cacheScope: 'private' }),
    }
  }
  return { ...base, handlers: { 'tools/list': list } }
}

/** After tool `storm`, a thousand list_changed each second until tool `calm`. */
function storm() {
  const base = plain()
  let timer
  let sent = 0
  const blow = (_given, call) => {
    clearInterval(timer)
    const start = performance.now()
    sent = 0
    timer = setInterval(() => {
      // Catches up, as timers run late on a busy machine.
      for (const due = performance.now() - start; sent < due; sent++) call.server.changed('tools')
    }, 5)
    return text('blowing')
  }
  const calm = () => {
    clearInterval(timer)
    return text(String(sent))
  }
  return {
    ...base,
    tools: [...base.tools, tool('storm', 'Starts the storm', blow), tool('calm', 'Ends it', calm)],
  }
}

const CHANGES = ['description', 'schema', 'add', 'remove', 'prompt', 'resource']

/** Tool `change` alters a list and says so; tool `touch` says that a resource was updated. */
export function changing() {
  const base = plain()
  let tools = base.tools
  let prompts = base.prompts
  let resources = base.resources
  let round = 0
  const apply = {
    description() {
      tools = tools.map((one) =>
        one.name === 'echo' ? { ...one, description: `Gives back the text, version ${round}` } : one,
      )
      return 'tools'
    },
    schema() {
      const inputSchema = schema({ text: { type: 'string' }, [`extra${round}`]: { type: 'string' } }, [
        'text',
      ])
      tools = tools.map((one) => (one.name === 'echo' ? { ...one, inputSchema } : one))
      return 'tools'
    },
    add() {
      tools = [...tools, tool(`added-${round}`, 'A tool that came later', () => text('added'))]
      return 'tools'
    },
    remove() {
      tools = tools.filter((one) => one.name !== 'count')
      return 'tools'
    },
    prompt() {
      prompts = [...prompts, { ...prompts[0], name: `greet-${round}` }]
      return 'prompts'
    },
    resource() {
      resources = [...resources, { ...resources[0], uri: `test://text-${round}`, name: `text-${round}` }]
      return 'resources'
    },
  }
  const change = ({ kind = 'description' }, call) => {
    round++
    call.server.changed(apply[kind]())
    return text(`${kind} ${round}`)
  }
  const touch = ({ uri = 'test://text' }, call) => {
    call.server.changed('resources', uri)
    return text(uri)
  }
  const own = [
    tool('change', 'Changes a list', change, schema({ kind: { type: 'string', enum: CHANGES } })),
    tool('touch', 'Tells of an updated resource', touch, schema({ uri: { type: 'string' } })),
  ]
  return { ...base, tools: () => [...tools, ...own], prompts: () => prompts, resources: () => resources }
}

export const modes = { pages, 'endless-pages': endlessPages, storm, changing }
