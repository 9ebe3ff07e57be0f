// Which client and file `busbar connect` is about, and by which way that client comes to the gateway.

import { existsSync, lstatSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import { type ClientFile, type ClientScope, type KnownClient, knownClients } from '../config/clients/known.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { absolute, realPath } from '../config/sources.ts'
import { gatewayStatus } from './gateway-client.ts'
import type { Session } from './session.ts'

export function clientsHere({ places, root, env }: Snapshot): KnownClient[] {
  return knownClients(places, root, env)
}

export function clientNamed(snapshot: Snapshot, id: string): KnownClient {
  const clients = clientsHere(snapshot)
  const ids = clients.map((it) => it.id)
  const client = clients.find((it) => it.id === id)
  if (client) return client
  const near = nearest(id, ids)
  throw new Fault('USAGE', `"${id}" is no client that is known`, {
    hint: near ? `did you mean: busbar connect ${near}` : `clients: ${ids.join(', ')}`,
  })
}

export function readScope(text: string | undefined): ClientScope {
  if (text === undefined || text === 'user' || text === 'project') return text ?? 'user'
  throw new Fault('USAGE', `-s is "${text}"; expected user or project`, { hint: 'without -s it is user' })
}

/** The client's file of that scope, behind all links. */
export function clientFile(client: KnownClient, scope: ClientScope): ClientFile {
  const found = client.files.find((it) => it.scope === scope)
  if (found === undefined)
    throw new Fault('USAGE', `${client.title} has no file for a project alone`, {
      hint: `busbar connect ${client.id} --scope user`,
    })
  return { ...found, file: realFile(found.file) }
}

/** How the client gets to the gateway, all but the token. */
export type Route =
  | { readonly kind: 'http'; readonly url: string; readonly runs: boolean }
  | {
      readonly kind: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
    }

export async function routeFor(
  session: Session,
  snapshot: Snapshot,
  client: KnownClient,
  stdio: boolean,
): Promise<Route> {
  if (stdio || !client.http) return stdioRoute(session, snapshot)
  const running = await gatewayStatus(snapshot.places, session.signal)
  if (running?.url) return { kind: 'http', url: `${reachable(running.url)}/mcp`, runs: true }
  const { host, port } = snapshot.config.gateway
  if (port === 0)
    throw new Fault('USAGE', 'gateway.port is 0, so where the gateway will listen is not known yet', {
      hint: 'start it first (busbar up), set gateway.port, or connect with --stdio',
    })
  return {
    kind: 'http',
    url: `${reachable(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)}/mcp`,
    runs: false,
  }
}

/** An address to go to: one that means every address of this machine is not. */
export function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

// --- internal ---

/** Variables that decide where our files are; a client that is started elsewhere may not have them. */
const PLACES = ['BUSBAR_HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME']

/** By full paths: what a client finds on its PATH is anybody's guess. */
function stdioRoute({ options, out }: Session, snapshot: Snapshot): Route {
  const script = process.argv[1] ?? 'busbar'
  if (script.includes('/_npx/'))
    out.warn(`${script} was fetched by npx and may be gone tomorrow; install Busbar, and connect again`)
  const { layers, root, places, env } = snapshot
  const ofProject = layers.some(({ source }) => source.scope === 'project' || source.scope === 'local')
  const from =
    options.config !== undefined
      ? ['--config', absolute(options.config, process.cwd(), places.home)]
      : ofProject
        ? ['--project', root]
        : []
  const given = PLACES.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []))
  return {
    kind: 'stdio',
    command: process.execPath,
    args: [script, 'serve', '--stdio', ...from],
    env: Object.fromEntries(given),
  }
}

/** The file behind links, so that the link stays one; a link to nothing is nobody's file. */
function realFile(file: string): string {
  if (existsSync(file)) return realPath(file)
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Fault('CONFIG_EDIT', `${file} is a link to a file that does not exist`, {
      hint: 'remove the link, or make the file it leads to; nothing was written',
    })
  const folder = dirname(file)
  return existsSync(folder) ? join(realPath(folder), basename(file)) : file
}
