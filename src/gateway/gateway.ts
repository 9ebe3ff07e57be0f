// The gateway's HTTP server, on node:http directly: the web-standard layer alone would cost more than the call.

import { chmodSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { Fault } from '../base/fault.ts'
import { gatewaySocket, prepareFolder } from '../base/places.ts'
import type { GatewaySettings } from '../config/schema-gateway.ts'
import type { Snapshot } from '../config/snapshot.ts'
import type { Hub } from '../hub.ts'
import { type Actor, OWNER } from '../policy/access.ts'
import type { Token } from '../store/policy.ts'
import { serveApi } from './api.ts'
import type { Standing } from './api-types.ts'
import { EventFeed } from './events.ts'
import { faultError } from './faults.ts'
import { Gone } from './gone.ts'
import { checkExposure, wrongName } from './guard.ts'
import { serveMcp } from './http-endpoint.ts'
import { agentsIn, Identities, type Known, ownerToken, readTokens, signInFault } from './identify.ts'
import { json } from './json.ts'
import { asksForStream, Limits, type Share } from './limits.ts'
import { serveUpgrade } from './lines-upgrade.ts'
import { listening } from './listening.ts'
import { McpEndpoint } from './mcp.ts'
import { Metrics } from './metrics.ts'
import { type OpenAnswer, OpenAnswers, TOKEN_OVER } from './open-answers.ts'
import { refuse, refuseAt, refuseForNow, refuseStoppingAt } from './refuse.ts'
import { sessionKey } from './session-id.ts'
import { FailedSignIns } from './sign-ins.ts'
import { targetOf } from './target.ts'

export interface GatewayOptions {
  readonly host: string
  readonly port: number
  /** Told of errors that are ours alone. */
  readonly report: (error: unknown) => void
}

export class Gateway {
  readonly metrics: Metrics
  readonly feed: EventFeed
  readonly #hub: Hub
  readonly #options: GatewayOptions
  readonly #identities = new Identities()
  readonly #limits: Limits
  readonly #failedSignIns = new FailedSignIns()
  readonly #endpoint: McpEndpoint
  readonly #servers: Server[] = []
  #socket: string | undefined
  readonly #open = new OpenAnswers()
  #tokens: readonly Token[] = []
  /** Clients on a line, which the server that took them does not know any more. */
  readonly #lines = new Map<Socket, { readonly authorization: string | undefined; readonly gone: Gone }>()
  readonly #ending = new AbortController()
  #settings: GatewaySettings
  #closing = false
  #url = ''

  private constructor(hub: Hub, options: GatewayOptions) {
    this.#hub = hub
    this.#options = options
    this.#settings = hub.snapshot.config.gateway
    this.#limits = new Limits(this.#settings.limits)
    this.metrics = new Metrics(hub)
    this.feed = new EventFeed(hub)
    this.#endpoint = new McpEndpoint(hub, {
      key: sessionKey(ownerToken(hub.places, hub.snapshot.env)),
      mostSessions: () => this.#settings.limits.sessions,
      sessionIdle: () => this.#settings.limits.sessionIdle,
      parked: () => this.#settings.limits.parked,
      spentFile: join(hub.places.state, 'spent-sessions'),
      report: options.report,
    })
    this.metrics.sessions = () => this.#endpoint.sessions.size
  }

  /** Listens, on the address and on the owner's socket. */
  static async open(hub: Hub, options: GatewayOptions): Promise<Gateway> {
    const gateway = new Gateway(hub, options)
    await gateway.refreshTokens()
    gateway.#checkExposure(hub.snapshot, gateway.#known(hub.snapshot))
    try {
      await gateway.#listenSocket()
      await gateway.#listen()
    } catch (error) {
      await gateway.close()
      throw error
    }
    return gateway
  }

  /** Where it listens; known once it does. */
  get url(): string {
    return this.#url
  }

  /** Agents that have a token. */
  get agents(): string[] {
    return this.#identities.agents
  }

  /** Looks at the files of its configuration now; until somebody follows them for it, none are. */
  look: () => Promise<Standing> = async () => ({ files: [], refused: [], untrusted: [] })

  /** Whether an agent is in what is written, where that is not in force yet. */
  isWritten: (agent: string) => boolean = () => false

  /** Takes over tokens, limits and hosts of a configuration, before it is followed; a fault leaves the old ones. */
  update(active: Snapshot): void {
    const known = this.#known(active)
    this.#checkExposure(active, known)
    this.#endpoint.remember()
    this.#identities.adopt(known)
    this.#settings = active.config.gateway
    this.#limits.update(this.#settings.limits)
  }

  /** Takes over tokens that were made or revoked, whatever that leaves. */
  async refreshTokens(): Promise<void> {
    this.#tokens = await this.#hub.store.agents.active(Date.now())
    this.#endpoint.remember()
    this.#identities.adopt(this.#known(this.#hub.snapshot))
    this.recheck()
  }

  /** Sends those away whom the configuration that is followed now, or their token, does not let in any more. */
  recheck(): void {
    const isOut = (authorization: string | undefined) => this.#identities.find(authorization) === undefined
    // Before anything of theirs is ended: they are told why.
    this.#open.sendAway(isOut)
    for (const [socket, { authorization, gone }] of this.#lines) {
      if (!isOut(authorization)) continue
      gone.sendAway(faultError(TOKEN_OVER))
      setImmediate(() => socket.destroySoon())
    }
    this.#endpoint.recheck((actor) => actor.kind === 'owner' || this.#identities.agents.includes(actor.id))
  }

  /** Begins nothing new; what is under way may finish, and what belongs to it is taken. */
  refuse(): void {
    this.#closing = true
    this.#endpoint.windDown()
    for (const server of this.#servers) server.closeIdleConnections()
  }

  /** Ends everything that is open. The servers are the hub's concern. */
  async close(): Promise<void> {
    this.refuse()
    this.feed.close()
    this.metrics.close()
    const ended = this.#servers.map(
      (server) =>
        new Promise<void>((resolve) => (server.listening ? server.close(() => resolve()) : resolve())),
    )
    this.#ending.abort()
    this.#endpoint.close()
    for (const socket of this.#lines.keys()) socket.destroy()
    for (const server of this.#servers) server.closeAllConnections()
    await Promise.all(ended)
    if (this.#socket !== undefined) rmSync(this.#socket, { force: true })
  }

  // --- internal ---

  #known(active: Snapshot): readonly Known[] {
    return readTokens(active, ownerToken(this.#hub.places, active.env), this.#tokens)
  }

  #checkExposure({ config: { gateway, agents } }: Snapshot, known: readonly Known[]): void {
    checkExposure(this.#options.host, gateway.allowedHosts, {
      enabled: Object.keys(agents).filter((name) => agents[name]?.enabled),
      withToken: agentsIn(known),
    })
  }

  async #listen(): Promise<void> {
    const { host, port } = this.#options
    const server = this.#create((request) => this.#identities.find(request.headers.authorization), true)
    await listening(server, () => server.listen({ host, port }), `${host}:${port}`)
    const { address, port: chosen, family } = server.address() as AddressInfo
    this.#url = `http://${family === 'IPv6' ? `[${address}]` : address}:${chosen}`
  }

  /** Whoever can open the socket is the owner, for its folder is theirs alone; but who shows a token is whose that is. */
  async #listenSocket(): Promise<void> {
    const path = gatewaySocket(this.#hub.places)
    prepareFolder(dirname(path))
    const server = this.#create(({ headers: { authorization } }) => {
      return authorization === undefined ? OWNER : this.#identities.find(authorization)
    }, false)
    server.on('upgrade', (request, socket: Socket, head) => {
      const { authorization } = request.headers
      const actor = this.#closing ? 'nobody now' : this.#identities.find(authorization)
      const { signal } = this.#ending
      const gone = new Gone()
      serveUpgrade({ endpoint: this.#endpoint, actor, gone, signal }, request, socket, head)
      this.#lines.set(socket, { authorization, gone })
      socket.once('close', () => this.#lines.delete(socket))
    })
    // The caller holds the lock of this home, so a socket that is there is of a gateway that died.
    rmSync(path, { force: true })
    await listening(server, () => server.listen(path), path)
    chmodSync(path, 0o600)
    this.#socket = path
  }

  #create(identify: (request: IncomingMessage) => Actor | undefined, guarded: boolean): Server {
    const { headers, receive } = this.#settings.limits
    const options = { maxHeaderSize: headers, connectionsCheckingInterval: Math.min(5_000, receive / 2) }
    const server = createServer(options, (request, response) => {
      void this.#serve(request, response, identify, guarded).catch((error: unknown) => {
        this.#options.report(error)
        // Nothing of what went wrong is for the client; a half-sent answer cannot be mended.
        if (!response.headersSent) response.writeHead(500)
        response.end()
      })
    })
    server.headersTimeout = Math.min(10_000, receive)
    server.requestTimeout = receive
    server.keepAliveTimeout = 60_000
    // Node would leave out those above it without a word; they are counted below.
    server.maxHeadersCount = 0
    this.#servers.push(server)
    return server
  }

  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    identify: (request: IncomingMessage) => Actor | undefined,
    guarded: boolean,
  ): Promise<void> {
    const { headers } = request
    const target = targetOf(request)
    if (target.kind === 'unclear')
      return refuseAt(request.url ?? '', response, 400, new Fault('USAGE', target.reason))
    // From here on there is one form of it.
    request.url = target.url
    const path = target.url.split('?', 1)[0] ?? '/'
    const { allowedHosts, limits } = this.#settings
    const { host } = target
    const wrong = guarded ? wrongName({ host, origin: headers.origin }, allowedHosts) : undefined
    if (wrong !== undefined) return this.#refuse('host', path, response, 403, new Fault('NO_ACCESS', wrong))
    if (request.rawHeaders.length > 2 * limits.headerCount)
      return refuse(response, 431, `more than ${limits.headerCount} headers`)
    if (path === '/healthz') return json(response, 200, { ok: true })
    const actor = identify(request)
    if (actor === undefined) {
      const tooMuch =
        headers.authorization &&
        this.#failedSignIns.add(request.socket.remoteAddress ?? '', limits.failedSignIns)
      if (tooMuch) {
        this.metrics.refused('sign-ins')
        return refuseForNow(response, 429, 'GATEWAY_LIMIT', tooMuch)
      }
      response.setHeader('www-authenticate', 'Bearer realm="busbar"')
      return this.#refuse('token', path, response, 401, signInFault(headers.authorization))
    }
    // What belongs to calls under way is told apart from what would begin one where it is read.
    if (this.#closing && !path.startsWith('/mcp')) return refuseStoppingAt(path, response)
    const stays = asksForStream(request)
    const share = this.#limits.enter(actor, stays)
    if ('reason' in share) {
      this.metrics.refused('limit')
      return refuseForNow(response, 429, 'GATEWAY_LIMIT', share)
    }
    const leave = () => {
      share.leave(stays)
      this.#open.delete(response)
    }
    // Who shows no token is the owner, at the socket.
    const open =
      headers.authorization === undefined ? { reply: undefined, gone: new Gone() } : this.#open.add(response)
    if (stays) response.once('close', leave)
    try {
      await this.#answer(request, response, actor, path, share, open)
    } finally {
      if (!stays) leave()
    }
  }

  #answer(
    request: IncomingMessage,
    response: ServerResponse,
    actor: Actor,
    path: string,
    share: Share,
    open: OpenAnswer,
  ): Promise<void> | void {
    if (path === '/metrics' || path.startsWith('/api/')) {
      if (actor.kind !== 'owner')
        return this.#refuse('owner', path, response, 403, new Fault('NO_ACCESS', 'this is for the owner'))
      if (path === '/metrics') return this.metrics.serve(response)
      return serveApi(this.#hub, request, response, this)
    }
    const scope = scopeOf(path)
    if (scope === undefined)
      return refuse(response, 404, 'there is nothing here; the endpoints are /mcp and /mcp/SERVER')
    return serveMcp({ endpoint: this.#endpoint, actor, scope: scope.server, request, response, share, open })
  }

  #refuse(reason: string, path: string, response: ServerResponse, status: number, fault: Fault): void {
    this.metrics.refused(reason)
    refuseAt(path, response, status, fault)
  }
}

// --- internal ---

/** `/mcp` is for all servers that somebody may use, `/mcp/SERVER` for one. */
function scopeOf(path: string): { readonly server: string | undefined } | undefined {
  // Many write a slash at the end.
  if (path === '/mcp' || path === '/mcp/') return { server: undefined }
  const name = /^\/mcp\/([^/]+)\/?$/.exec(path)?.[1]
  try {
    return name === undefined ? undefined : { server: decodeURIComponent(name) }
  } catch {
    return undefined
  }
}
