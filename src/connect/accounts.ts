// How a server is signed in to, and as whom: its own way, and further accounts that agents may use instead.

import { readFileSync } from 'node:fs'
import { Fault } from '../base/fault.ts'
import type { Auth, OAuth, Server } from '../config/schema-server.ts'
import type { ServerEntry, Snapshot } from '../config/snapshot.ts'
import { absolute } from '../config/sources.ts'
import { scopeOf } from '../config/status.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Account, OnSignIn } from './auth/account.ts'
import { ownerOf } from './auth/grant.ts'
import type { Credential } from './http/credential.ts'

/** What signing in needs of the program around it. */
export interface SigningIn {
  readonly secrets: () => Promise<Secrets>
  /** Whether something is kept for an owner; told without the key. */
  readonly isKept: (owner: string) => boolean
  readonly onSignIn?: OnSignIn | undefined
  /** Fires when the program is done with all of it. */
  readonly closing: AbortSignal
  /** Renewals that go on: a token that was given and is not kept yet would be lost with the process. */
  readonly renewals: Set<Promise<unknown>>
}

export class Accounts {
  readonly #entry: ServerEntry
  readonly #active: Snapshot
  readonly #context: SigningIn
  readonly #credentials = new Map<string | undefined, Credential>()

  constructor(entry: ServerEntry, active: Snapshot, context: SigningIn) {
    this.#entry = entry
    this.#active = active
    this.#context = context
  }

  /** Which account somebody uses; undefined: the server's own way. Workers use their agent's. */
  of(agent: string): string | undefined {
    const { agents } = this.#active.config
    const [name = ''] = agent.split('/')
    return agents[name]?.accounts?.[this.#entry.name]
  }

  /** Who uses which, as it decides about connections. */
  get assigned(): readonly (readonly [string, string])[] {
    const names = Object.keys(this.#active.config.agents)
    return names.flatMap((agent) => {
      const account = this.of(agent)
      return account === undefined ? [] : [[agent, account] as const]
    })
  }

  /** Another value when there is another token, for whoever was turned away. */
  version(account: string | undefined): unknown {
    const credential = this.#credentials.get(account)
    return credential ? credential.version : this.#context.isKept(ownerOf(this.#entry.name, account))
  }

  /** What signs requests to the server, all variables of which are filled in; undefined where nothing does. */
  async credential(server: Server, account: string | undefined): Promise<Credential | undefined> {
    const known = this.#credentials.get(account)
    // Whoever connects anew may do so because somebody signed in or out.
    known?.recall?.()
    if (known) return known
    const { auth, name } = authOf(this.#entry.name, server, account)
    const made = await this.#make(server, auth, name)
    if (made) this.#credentials.set(account, made)
    return made
  }

  /** An account that a person signs in to; a fault where there is nothing to sign in to. */
  signIn(server: Server, wanted: string | undefined): Account {
    const { auth, name } = authOf(this.#entry.name, server, wanted)
    const own = this.#entry.name
    if (server.url === undefined)
      throw new Fault('USAGE', `${own} is started by a command: there is nothing to sign in to`, {
        hint: 'what it needs it gets by env',
        server: own,
      })
    // Most servers say themselves that they want it: nobody has to write so.
    if (auth !== undefined && auth.type !== 'oauth' && auth.type !== 'none')
      throw new Fault('USAGE', `${own} is signed in to by ${auth.type}, not by a person`, {
        hint: auth.type === 'api_key' ? 'set auth.apiKey' : 'write the token to auth.tokenPath',
        server: own,
      })
    return this.#account(server.url, auth?.type === 'oauth' ? auth : DISCOVERED, name)
  }

  // --- internal ---

  async #make(server: Server, auth: Auth | undefined, name: string | undefined) {
    switch (auth?.type) {
      case 'token_file': {
        const { TokenFile } = await import('./auth/token-file.ts')
        return new TokenFile(this.#path(auth.tokenPath), this.#entry.name)
      }
      case 'none':
      case 'api_key':
        return undefined
      default: {
        if (server.url === undefined) return undefined
        // Nobody has to write that a server wants it: once it was signed in to, or can be, that is enough.
        const isMeant = this.#context.onSignIn || this.#context.isKept(ownerOf(this.#entry.name, name))
        if (auth === undefined && (!isMeant || hasAuthorization(server))) return undefined
        const { OAuthCredential } = await import('./auth/oauth.ts')
        return new OAuthCredential(this.#account(server.url, auth ?? DISCOVERED, name))
      }
    }
  }

  #account(url: string, settings: OAuth, name: string | undefined): Account {
    const { secrets, onSignIn, closing, renewals } = this.#context
    const { privateKeyPath } = settings
    const key = privateKeyPath === undefined ? {} : { privateKey: this.#read(privateKeyPath) }
    const { env } = this.#active
    // Authorization servers are asked over http, also for a server that is spoken to over a WebSocket.
    const address = url.replace(/^ws/i, 'http')
    const own = { ...settings, ...key }
    const { name: server } = this.#entry
    return { server, name, url: address, settings: own, env, secrets, onSignIn, closing, renewals }
  }

  #path(path: string): string {
    const { root, home } = scopeOf(this.#entry, this.#active)
    return absolute(path, root, home)
  }

  #read(path: string): string {
    try {
      return readFileSync(this.#path(path), 'utf8')
    } catch (cause) {
      throw new Fault('CONFIG_INVALID', `the private key ${path} of ${this.#entry.name} cannot be read`, {
        hint: 'make it, or mend auth.privateKeyPath',
        server: this.#entry.name,
        cause,
      })
    }
  }
}

/** Headers that carry a key. */
export function keyHeaders(
  name: string,
  server: Server,
  account: string | undefined,
): Record<string, string> {
  const { auth } = authOf(name, server, account)
  return auth?.type === 'api_key' ? { [auth.headerName]: auth.apiKey } : {}
}

// --- internal ---

const DISCOVERED: OAuth = { type: 'oauth', grant: 'authorization_code' }

/** The way of an account; where the server has none of its own, that of the first is what its lists are asked with. */
function authOf(server: string, { auth, accounts = {} }: Server, account: string | undefined) {
  const names = Object.keys(accounts)
  const name = account ?? (auth === undefined ? names[0] : undefined)
  const found = name === undefined ? auth : accounts[name]
  if (name === undefined || found !== undefined) return { auth: found, name }
  throw new Fault('CONFIG_INVALID', `${server} has no account ${JSON.stringify(name)}`, {
    hint: names.length > 0 ? `its accounts: ${names.join(', ')}` : `add it under servers.${server}.accounts`,
    server,
  })
}

function hasAuthorization({ headers, url = '' }: Server): boolean {
  const inUrl = URL.canParse(url) && new URL(url).username !== ''
  return inUrl || Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
}
