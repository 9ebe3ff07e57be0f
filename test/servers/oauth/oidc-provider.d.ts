// The little of oidc-provider that the fixtures use; the package brings no types of its own.
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface Grant {
    addOIDCScope(scope: string): void
    addOIDCClaims(claims: string[]): void
    addResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }

  export interface IssuedToken {
    jti: string
    grantId?: string
  }

  export interface Interaction {
    uid: string
    grantId?: string
    prompt: {
      name: string
      details: {
        missingOIDCScope?: string[]
        missingOIDCClaims?: string[]
        missingResourceScopes?: Record<string, string[]>
      }
    }
    params: Record<string, string | undefined>
    session?: { accountId: string }
  }

  /** A Koa context; `oidc` is there once the provider has worked on the request. */
  export interface Context {
    req: IncomingMessage
    path: string
    method: string
    status: number
    body: unknown
    oidc?: {
      route?: string
      body?: Record<string, unknown>
      params?: Record<string, unknown>
      client?: { clientId: string }
    }
  }

  export const errors: { InvalidTarget: new (message: string) => Error }

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    readonly Grant: {
      new (properties: { accountId: string | undefined; clientId: string | undefined }): Grant
      find(id: string): Promise<Grant | undefined>
    }
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): this
    on(
      event: 'access_token.issued' | 'client_credentials.issued',
      listener: (token: IssuedToken) => void,
    ): this
    on(event: 'grant.revoked', listener: (context: Context, grantId: string) => void): this
    on(event: 'server_error', listener: (context: Context, error: Error) => void): this
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: Record<string, unknown>,
      options: { mergeWithLastSubmission: boolean },
    ): Promise<void>
  }
}
