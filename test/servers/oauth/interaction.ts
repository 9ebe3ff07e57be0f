// The pages of the real authorization server: sign in with any name, then allow or decline. Plain forms, no script.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Interaction, Provider } from 'oidc-provider'
import { readBody } from './listener.ts'

/** Shows the page of an interaction, or takes its form. */
export async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const interaction = await provider.interactionDetails(request, response)
  if (request.method !== 'POST') {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page(interaction))
    return
  }
  const form = new URLSearchParams(await readBody(request))
  const result = await decided(provider, interaction, form)
  const mergeWithLastSubmission = interaction.prompt.name === 'consent' && !('error' in result)
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission })
}

// --- internal ---

function page({ uid, prompt, params }: Interaction): string {
  const body =
    prompt.name === 'login'
      ? '<input name="login" placeholder="name" autofocus><button>Sign in</button>'
      : `<p>${safe(params['client_id'] ?? '')} asks for: ${safe(params['scope'] ?? 'nothing')}</p>
<button autofocus>Allow</button><button name="abort" value="yes">Decline</button>`
  return `<!doctype html><title>${safe(prompt.name)}</title>
<form method="post" action="/interaction/${uid}">${body}</form>`
}

async function decided(
  provider: Provider,
  { grantId, prompt, params, session }: Interaction,
  form: URLSearchParams,
): Promise<Record<string, unknown>> {
  if (form.has('abort')) return { error: 'access_denied', error_description: 'The user declined' }
  if (prompt.name === 'login') return { login: { accountId: form.get('login') } }
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId)
  const grant = known ?? new provider.Grant({ accountId: session?.accountId, clientId: params['client_id'] })
  const { missingOIDCScope = [], missingOIDCClaims = [], missingResourceScopes = {} } = prompt.details
  if (missingOIDCScope.length > 0) grant.addOIDCScope(missingOIDCScope.join(' '))
  if (missingOIDCClaims.length > 0) grant.addOIDCClaims(missingOIDCClaims)
  for (const [resource, scopes] of Object.entries(missingResourceScopes))
    grant.addResourceScope(resource, scopes.join(' '))
  return { consent: { grantId: await grant.save() } }
}

function safe(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
