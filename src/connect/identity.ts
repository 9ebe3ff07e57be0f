// What runs under a server's name. What a person allowed was allowed for that: another program, folder, address or target
// behind the same name is another server, also where only a variable has changed.

import { sha256 } from '../base/digest.ts'
import { isSecretName } from '../base/redact.ts'
import { canonical } from '../config/canonical.ts'
import { locateEnvFile, readIfFile } from '../config/command.ts'
import { expandText, type Scope } from '../config/expand.ts'
import type { Server } from '../config/schema-server.ts'

/**
 * The server as it is configured, with its variables filled in. What only proves who asks may change: a new token is no new
 * server. `object`: which of the objects of this process it is, where it is one.
 */
export function identityOf(server: Server | undefined, scope: Scope, object?: number): string {
  const one = server && filledIn(server, scope)
  return sha256(canonical(object === undefined ? one : { ...one, object }))
}

// --- internal ---

function filledIn(server: Server, scope: Scope): Record<string, unknown> {
  // Kept secrets are that by definition.
  const ground = { ...scope, secrets: undefined }
  const text = (value: string | undefined) => {
    const expanded = value === undefined ? undefined : expandText(value, ground)
    return expanded?.ok ? expanded.value : value
  }
  const named = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, isSecretName(name) ? value : text(value)]),
    )
  const file = locateEnvFile(server, ground)
  const lines = file === undefined ? undefined : readIfFile(file)
  return {
    type: server.type,
    command: text(server.command),
    args: server.args.map(text),
    env: named(server.env),
    envFile: text(server.envFile),
    further: lines === undefined ? undefined : sha256(withoutSecrets(lines)),
    cwd: text(server.cwd),
    url: text(server.url),
    headers: named(server.headers),
    id: server.id,
    sandbox: server.sandbox,
    root: scope.root,
  }
}

function withoutSecrets(lines: string): string {
  return lines
    .split('\n')
    .filter((line) => !isSecretName(/^\s*(?:export\s+)?([\w.-]+)\s*=/.exec(line)?.[1] ?? ''))
    .join('\n')
}
