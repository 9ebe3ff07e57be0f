// Which of a configuration's values are secrets, so that they can be taken out of whatever is shown or kept.

import { isSecretName, isSecretValue, maskArguments } from '../base/redact.ts'
import { expandText, variablesOf } from '../config/expand.ts'
import { secretsIn } from '../config/missing.ts'
import type { Auth, Server } from '../config/schema-server.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { resolveServer, settingsScope } from '../config/status.ts'
import type { GivenSecrets } from './own-secrets.ts'

/** All secrets that a configuration's servers and agents are given. */
export function allSecrets(active: Snapshot): string[] {
  const { config, env, servers } = active
  const ofServers = [...servers.values()].flatMap((entry) => {
    const resolved = resolveServer(entry, active)
    return resolved?.ok ? secretsOf(resolved.value, entry.definition, active).all : []
  })
  const { model, cheap } = config.agent
  const given = [...Object.values(config.agents).map(({ token }) => token), model.key, cheap.key]
  const ofAgents = given.flatMap((text) => {
    const expanded = text === undefined ? undefined : expandText(text, settingsScope(active))
    return expanded?.ok ? [expanded.value] : []
  })
  return [...ofServers, ...ofAgents, env['BUSBAR_ADMIN_TOKEN'] ?? '', env['BUSBAR_PASSPHRASE'] ?? '']
}

/**
 * Values that must not come back in an error, in what a process says on stderr or in what a server says of itself: those that
 * are called or look like a secret, what stands in an address, and, with less certainty, those that came from a variable.
 */
export function secretsOf(
  server: Server,
  written: Server | undefined,
  { env: own, secrets: kept }: Pick<Snapshot, 'env' | 'secrets'>,
): GivenSecrets {
  const { env, headers, auth, accounts, url = '', args } = server
  const given = Object.entries({ ...env, ...headers })
  const secrets = given.filter(([name, value]) => isSecretName(name) || isSecretValue(value))
  const addresses = [url, ...args, ...given.map(([, value]) => value)].filter((text) => URL.canParse(text))
  const parts = addresses.flatMap((text) => {
    const { password, searchParams } = new URL(text)
    return [
      decodeURIComponent(password),
      ...[...searchParams].flatMap(([name, value]) => (isSecretName(name) ? [value] : [])),
    ]
  })
  const key = [auth, ...Object.values(accounts ?? {})].flatMap(secretsOfAuth)
  // Whatever came from a variable, wherever it was filled in, and arguments that are never shown.
  const { url: address, args: words_, env: given_, headers: sent, auth: way, accounts: ways } = written ?? {}
  const names = JSON.stringify([address, words_, given_, sent, way, ways]).matchAll(VARIABLE)
  const variables = [...names].flatMap(([, name = '']) => (ORDINARY.has(name) ? [] : [name]))
  const filled = variables.map((name) => own[name] ?? '')
  const secret = variables.filter(isSecretName).map((name) => own[name] ?? '')
  const named = secretsIn(variablesOf(written)).flatMap((name) => {
    const reading = kept?.read(name)
    return reading?.kind === 'held' ? [reading.value] : []
  })
  const masked = maskArguments(args, () => false)
  const hidden = args.filter((word, index) => masked[index] !== word)
  const words = hidden.flatMap((word) => [word, word.replace(/^[^=:]*[=:]\s*/, '')])
  const values = secrets.flatMap(([, value]) => [value, value.replace(/^(?:Bearer|Basic|Token)\s+/i, '')])
  const sure = [...values, ...parts, ...key, ...secret, ...named, ...words]
  return { sure, all: [...sure, ...filled, ...Object.values(headers)] }
}

// --- internal ---

function secretsOfAuth(auth: Auth | undefined): string[] {
  if (auth?.type === 'api_key') return [auth.apiKey]
  return auth?.type === 'oauth' ? [auth.clientSecret ?? '', auth.privateKey ?? ''] : []
}

const VARIABLE = /\{(?:env:)?([A-Za-z_]\w*)/g
/** Folders and names of people are in every message and no secret. */
const ORDINARY: ReadonlySet<string> = new Set(
  'workspaceFolder userHome env input HOME BUSBAR_HOME USER LOGNAME PATH PWD SHELL TMPDIR LANG'.split(' '),
)
