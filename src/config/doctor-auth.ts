// What is wrong with how servers are signed in to, as far as the configuration says it.

import { existsSync, statSync } from 'node:fs'
import { nearest } from '../base/suggest.ts'
import type { Finding } from './doctor.ts'
import { expandText } from './expand.ts'
import type { Auth } from './schema-server.ts'
import type { ServerEntry, Snapshot } from './snapshot.ts'
import { absolute } from './sources.ts'
import { scopeOf } from './status.ts'

/** Files that hold tokens and keys, and values that only make sense together. */
export function checkAuth(entry: ServerEntry, snapshot: Snapshot): Finding[] {
  const { auth, accounts = {} } = entry.definition ?? {}
  const ways = [
    ['auth', auth],
    ...Object.entries(accounts).map(([name, way]) => [`accounts.${name}`, way]),
  ] as [string, Auth | undefined][]
  return ways.flatMap(([where, way]) => [
    ...(way?.type === 'token_file' ? checkFile(entry, snapshot, way.tokenPath, `${where}.tokenPath`) : []),
    ...(way?.type === 'oauth' && way.privateKeyPath !== undefined
      ? checkFile(entry, snapshot, way.privateKeyPath, `${where}.privateKeyPath`)
      : []),
    ...(way?.type === 'oauth' ? checkClient(entry, way, where) : []),
  ])
}

/** Agents that are to use an account that there is none of. */
export function checkAccounts({ config }: Snapshot): Finding[] {
  return Object.entries(config.agents).flatMap(([agent, { accounts = {} }]) =>
    Object.entries(accounts).flatMap(([server, account]): Finding[] => {
      const known = Object.keys(config.servers[server]?.accounts ?? {})
      if (known.includes(account)) return []
      const near = nearest(account, known)
      const fix = near
        ? `did you mean ${near}?`
        : known.length > 0
          ? `use one of: ${known.join(', ')}`
          : `add it under servers.${server}.accounts`
      const message = `${agent} is to use the account "${account}" of ${server}, which has none of that name`
      return [{ severity: 'error', check: 'accounts', message, fix }]
    }),
  )
}

// --- internal ---

function checkFile(entry: ServerEntry, snapshot: Snapshot, written: string, where: string): Finding[] {
  const { name: server } = entry
  const scope = scopeOf(entry, snapshot)
  const expanded = expandText(written, scope)
  if (!expanded.ok) return []
  const file = absolute(expanded.value, scope.root, scope.home)
  const finding = { check: 'token', server }
  if (!existsSync(file))
    return [
      {
        ...finding,
        severity: 'error',
        message: `${server}: ${expanded.value} does not exist`,
        fix: `make it, or mend ${where}`,
      },
    ]
  if ((statSync(file).mode & 0o077) === 0) return []
  const repair = { kind: 'mode' as const, file, mode: 0o600 }
  const message = `${server}: ${file} holds a secret and can be read by other users`
  return [{ ...finding, severity: 'warning', message, fix: `chmod 600 ${file}`, repair }]
}

function checkClient({ name: server }: ServerEntry, way: Auth & { type: 'oauth' }, where: string): Finding[] {
  const say = (message: string, fix: string): Finding[] => [
    { severity: 'error', check: 'sign-in', server, message: `${server}: ${message}`, fix },
  ]
  const { grant, clientId, clientSecret, privateKey, privateKeyPath, authUrl, tokenUrl } = way
  const proof = clientSecret ?? privateKey ?? privateKeyPath
  if (grant === 'client_credentials' && (clientId === undefined || proof === undefined))
    return say(
      `${where} says client_credentials without a client`,
      `set ${where}.clientId, and clientSecret or privateKeyPath`,
    )
  if (clientId === undefined && (proof !== undefined || (authUrl !== undefined && tokenUrl !== undefined)))
    return say(
      `${where} has no clientId`,
      `set ${where}.clientId: it was given when the client was registered`,
    )
  return []
}
