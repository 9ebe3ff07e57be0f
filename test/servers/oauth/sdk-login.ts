// A client on the official SDK that signs in, to prove the authorization servers with somebody else's code.
import {
  auth,
  Client,
  DpopSession,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { type BrowseOptions, browse, type Page } from './browse.ts'
import { listen } from './listener.ts'

/** Everything in memory, and nothing opened: the test takes `authorizationUrl` to a browser. */
export class MemoryProvider implements OAuthClientProvider {
  readonly redirectUrl: string
  information: StoredOAuthClientInformation | undefined
  stored: StoredOAuthTokens | undefined
  authorizationUrl: URL | undefined
  readonly #dpop: Promise<DpopSession> | undefined
  #verifier = ''
  #discovery: OAuthDiscoveryState | undefined

  constructor(redirectUrl: string, options: { dpop?: boolean } = {}) {
    this.redirectUrl = redirectUrl
    if (options.dpop) this.#dpop = DpopSession.create()
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      redirect_uris: [this.redirectUrl],
      client_name: 'test client',
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    }
  }

  state(): string {
    return 'a-state'
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.information
  }

  saveClientInformation(information: StoredOAuthClientInformation): void {
    this.information = information
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.stored
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.stored = tokens
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery
  }

  dpop(): Promise<DpopSession> | undefined {
    return this.#dpop
  }
}

export interface SignIn {
  provider: MemoryProvider
  /** What came to the redirect URI, if the browser got there. */
  callback: URLSearchParams | undefined
  page: Page
}

/** Listens for the redirect, starts with `auth()`, lets the browser run, and redeems the code. */
export async function signIn(
  serverUrl: string,
  options: BrowseOptions & { scope?: string; dpop?: boolean } = {},
): Promise<SignIn> {
  let callback: URLSearchParams | undefined
  const listener = await listen((origin) => (request, response) => {
    callback = new URL(request.url ?? '/', origin).searchParams
    response.end('You may close this page.')
  })
  onTestFinished(listener.close)
  const { scope, dpop = false, ...browsing } = options
  const provider = new MemoryProvider(`${listener.origin}/callback`, { dpop })
  await auth(provider, { serverUrl, ...(scope !== undefined && { scope }) })
  if (provider.authorizationUrl === undefined) throw new Error('the SDK did not ask for a browser')
  const page = await browse(provider.authorizationUrl, browsing)
  const code = callback?.get('code')
  const iss = callback?.get('iss')
  if (code) await auth(provider, { serverUrl, authorizationCode: code, ...(iss && { iss }) })
  return { provider, callback, page }
}

/** Calls a tool in one connection of its own; the text of the answer. */
export async function callTool(
  serverUrl: string,
  authProvider: OAuthClientProvider,
  name: string,
  era: 'legacy' | 'modern' = 'modern',
): Promise<string> {
  const client = new Client(
    { name: 'test-client', version: '1.0.0' },
    { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  )
  const transport = new StreamableHTTPClientTransport(new URL(serverUrl), {
    authProvider,
    onInsufficientScope: 'throw',
  })
  try {
    await client.connect(transport)
    const { content } = await client.callTool({ name, arguments: name === 'echo' ? { text: 'hello' } : {} })
    const [first] = content
    return first?.type === 'text' ? first.text : ''
  } finally {
    await client.close()
  }
}
