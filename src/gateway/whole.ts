// `/mcp`: all servers that an agent may use, as one. Names say whose a tool or prompt is; what is asked of a server is
// asked by its own names.

import { isRecord } from '../base/record.ts'
import { mayReach } from '../call/admit.ts'
import { JsonText } from '../call/argument-text.ts'
import { spilledBytes, spilledReply } from '../call/spill-result.ts'
import type { Surface } from '../call/surface.ts'
import type { Listing } from '../call/surface-items.ts'
import { offersTasks } from '../call/surface-tasks.ts'
import { CALL_TOOL, READ_RESULT } from '../call/view.ts'
import type { Hub } from '../hub.ts'
import { ERROR, type Era, LEGACY_METHODS } from '../wire/era.ts'
import { idText } from '../wire/id.ts'
import type { ReplyMessage } from '../wire/message.ts'
import { param, type RawParams, withParam } from '../wire/params.ts'
import { type Asked, callerOf } from './asked.ts'
import { meantCall } from './call-tool.ts'
import { discoverResult, type Introduction, initializeResult, SELF } from './handshake.ts'
import { checkParamHeaders } from './headers.ts'
import { noSession, notFound } from './one-server.ts'
import { type Passing, unknownName } from './pass.ts'
import type { Place, Subscribing } from './subscribing.ts'

export class Whole {
  readonly #hub: Hub
  readonly #passing: Passing
  readonly #subscribing: Subscribing

  constructor(hub: Hub, passing: Passing, subscribing: Subscribing) {
    this.#hub = hub
    this.#passing = passing
    this.#subscribing = subscribing
  }

  request(asked: Asked): Promise<void> | void {
    const { actor, modern, message } = asked
    const { method } = message
    const surface = this.#hub.surfaces.of(actor)
    // A call is by far the most frequent of them.
    if (method === 'tools/call') return this.#call(asked, surface)
    if (modern && LEGACY_METHODS.has(method)) return notFound(asked, 404)
    if (!modern && (method === 'server/discover' || method.startsWith('subscriptions/')))
      return notFound(asked, 200)
    const listed = LISTS.get(method)
    if (method === 'tools/list') return this.#tools(asked, surface)
    return listed ? this.#list(asked, surface, listed) : this.#other(asked, surface)
  }

  /** What a legacy client is told. */
  async initialize(asked: Asked, version: string): Promise<object> {
    const surface = this.#hub.surfaces.of(asked.actor)
    await surface.settled()
    return initializeResult(introductionOf(this.#hub.surfaces.of(asked.actor), 'legacy'), version)
  }

  // --- internal ---

  #call(given: Asked, surface: Surface): Promise<void> | void {
    const asked = given.name === CALL_TOOL ? meantCall(this.#hub.context, given) : given
    const { params, name, modern, headers, reply, message, actor } = asked
    const target = name === undefined ? undefined : surface.tool(name)
    if (target === undefined || target.server === '') {
      // The server of a call that waits may be gone from the configuration, and lets it finish.
      return modern && this.#passing.isParked(asked) ? this.#passing.pass(asked, '') : this.#own(asked)
    }
    const { manager, spill } = this.#hub.context
    const known = manager.find(target.server)?.tool(target.tool)
    if (modern && headers !== undefined) {
      const mismatch = known && checkParamHeaders(known, params, headers)
      if (mismatch) return reply.error(message.id, mismatch, 400)
    }
    // Who called it by way of another tool was not told what its results look like.
    const promised = asked === given && known?.tool.outputSchema !== undefined
    const renamed = {
      params: withParam(params, 'name', target.tool),
      name: target.tool,
      shown: (answer: ReplyMessage) =>
        surface.shown(target.server, spilledReply(spill, actor, answer, promised)),
    }
    return this.#passing.pass(asked, target.server, renamed)
  }

  /** A tool of this process, or a name that nobody has: that is refused, and written down, as any other call is. */
  async #own({ actor, params, name, message, reply, modern, gone, session }: Asked): Promise<void> {
    if (name === undefined) throw unknownName('tool', param(params, 'name'))
    const args = params.members.find(({ key }) => key === 'arguments')
    const text = args ? params.bytes.toString('utf8', args.start, args.end) : '{}'
    const stop = new AbortController()
    const begun = session?.begin(message.id, reply, '')
    begun?.addEventListener('abort', () => stop.abort())
    const forget = gone.onOver(modern, () => stop.abort())
    try {
      const agent = actor.kind === 'owner' ? undefined : actor.id
      const handle = this.#hub.door(agent, 'gateway', session?.caller.session)
      const result = await handle.call(name, new JsonText(text), { signal: stop.signal })
      const bytes =
        name === READ_RESULT ? result.bytes : spilledBytes(this.#hub.context.spill, actor, result.bytes)
      const extra = modern ? '"resultType":"complete",' : ''
      const start = `{"jsonrpc":"2.0","id":${idText(message.id)},"result":{${extra}`
      reply.send([Buffer.from(start), bytes.subarray(bytes.indexOf('{') + 1), BRACE])
    } finally {
      forget()
      if (begun) session?.finish(message.id, begun)
    }
  }

  /** Bytes that were written once for all who see the same. */
  async #tools({ actor, modern, message, reply, params }: Asked, before: Surface): Promise<void> {
    checkCursor(params)
    await before.settled()
    const { bytes, reason } = this.#hub.surfaces.list(actor)
    const meta = reason === undefined ? '' : `,"_meta":${JSON.stringify({ 'busbar/reason': reason })}`
    const start = `{"jsonrpc":"2.0","id":${idText(message.id)},"result":{`
    reply.send([Buffer.from(start), bytes, Buffer.from(`${meta}${modern ? COMPLETE : ''}}}`)])
  }

  async #list(
    { modern, message, reply, gone, params }: Asked,
    surface: Surface,
    { key, list }: Listed,
  ): Promise<void> {
    checkCursor(params)
    const { items, leftOut } = await list(surface, gone)
    reply.result(message.id, {
      ...(modern ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {}),
      [key]: items,
      // Nobody takes a short list for a whole one.
      ...(leftOut.length > 0 ? { _meta: { 'busbar/left-out': leftOut } } : {}),
    })
  }

  async #other(asked: Asked, surface: Surface): Promise<void> {
    const { message, params, reply, name, gone, actor } = asked
    switch (message.method) {
      case 'server/discover':
        await surface.settled()
        return reply.result(
          message.id,
          discoverResult(introductionOf(this.#hub.surfaces.of(actor), 'modern')),
        )
      case 'subscriptions/listen':
        return await this.#subscribing.listen(
          asked,
          (uri) => placeOf(surface, uri, asked),
          (task) => this.#passing.tasks.serversOf(callerOf(asked), this.#serversOf(asked), task),
        )
      case 'prompts/get': {
        const prompt = name === undefined ? undefined : await surface.prompt(name, gone)
        if (prompt === undefined) throw unknownName('prompt', param(params, 'name'))
        const shown = (answer: ReplyMessage) => surface.shown(prompt.server, answer)
        const renamed = { params: withParam(params, 'name', prompt.name), name: prompt.name, shown }
        return await this.#passing.pass(asked, prompt.server, renamed)
      }
      case 'resources/read':
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return await this.#resource(asked, surface)
      case 'completion/complete':
        return await this.#complete(asked, surface)
      default:
        return await this.#elsewhere(asked, surface)
    }
  }

  async #resource(asked: Asked, surface: Surface): Promise<void> {
    const { message, params, reply, session, modern } = asked
    const uri = param(params, 'uri')
    const place = typeof uri === 'string' ? await placeOf(surface, uri, asked) : undefined
    if (place === undefined) {
      const unknown = unknownName('resource', uri)
      if (modern || typeof uri !== 'string') throw unknown
      return reply.error(message.id, {
        code: ERROR.resourceNotFound,
        message: unknown.message,
        data: { uri, code: unknown.code },
      })
    }
    const shown = (answer: ReplyMessage) => surface.shown(place.server, answer)
    const renamed = { params: withParam(params, 'uri', place.uri), name: place.uri, shown }
    if (message.method === 'resources/read') return await this.#passing.pass(asked, place.server, renamed)
    if (session === undefined) return noSession(asked)
    await this.#subscribing.subscribe(asked, place, { params: renamed.params, name: undefined })
  }

  async #complete(asked: Asked, surface: Surface): Promise<void> {
    const { params, gone } = asked
    const ref = param(params, 'ref')
    if (!isRecord(ref)) throw unknownName('reference', ref)
    const { name, uri } = ref
    const prompt = typeof name === 'string' ? await surface.prompt(name, gone) : undefined
    const template = typeof uri === 'string' ? await surface.template(uri, gone) : undefined
    const server = prompt?.server ?? template?.server
    if (server === undefined) throw unknownName('prompt or resource', name ?? uri)
    const own = prompt ? { ...ref, name: prompt.name } : { ...ref, uri: template?.uri }
    await this.#passing.pass(asked, server, { params: withParam(params, 'ref', own), name: undefined })
  }

  /** A task belongs to the server that keeps it; of anything else nobody can tell whom it is for. */
  async #elsewhere(asked: Asked, surface: Surface): Promise<void> {
    const { message, params, name, modern } = asked
    const { tasks } = this.#passing
    const isOfTask = message.method.startsWith('tasks/')
    const task = isOfTask ? param(params, 'taskId') : undefined
    const servers = this.#serversOf(asked)
    const server = typeof task === 'string' ? tasks.serverOf(callerOf(asked), servers, task) : undefined
    if (server !== undefined) {
      const shown = (answer: ReplyMessage) => surface.shown(server, answer)
      return await this.#passing.pass(asked, server, { params, name, shown })
    }
    // Somebody else's task is as unknown as one that there never was.
    if (isOfTask && message.method !== 'tasks/list' && offersTasks(surface.capabilities(eraOf(asked))))
      throw unknownName('task', param(params, 'taskId'))
    notFound(asked, modern ? 404 : 200)
  }

  #serversOf({ actor }: Asked): string[] {
    const { context } = this.#hub
    return context.manager.names.filter((server) => mayReach(context, actor, server))
  }
}

// --- internal ---

interface Listed {
  readonly key: string
  readonly list: (surface: Surface, gone: Asked['gone']) => Promise<Listing>
}

/** By name; an object would also have whatever every object has. */
const LISTS: ReadonlyMap<string, Listed> = new Map([
  ['prompts/list', { key: 'prompts', list: (surface, gone) => surface.prompts(gone) }],
  ['resources/list', { key: 'resources', list: (surface, gone) => surface.resources(gone) }],
  [
    'resources/templates/list',
    { key: 'resourceTemplates', list: (surface, gone) => surface.templates(gone) },
  ],
])

const BRACE = Buffer.from('}')
const COMPLETE = ',"resultType":"complete","ttlMs":0,"cacheScope":"private"'

/** Lists come whole here: whoever goes on with one got that from somebody else. */
function checkCursor(params: RawParams): void {
  const cursor = param(params, 'cursor')
  if (cursor !== undefined && cursor !== null && cursor !== '') throw unknownName('cursor', cursor)
}

async function placeOf(surface: Surface, uri: string, { gone }: Asked): Promise<Place | undefined> {
  const found = await surface.resource(uri, gone)
  return found && { ...found, shown: uri }
}

function eraOf({ modern }: Asked): Era {
  return modern ? 'modern' : 'legacy'
}

function introductionOf(surface: Surface, era: Era): Introduction {
  return {
    capabilities: surface.capabilities(era),
    serverInfo: SELF,
    instructions: surface.instructions(),
  }
}
