// After a command has changed files: the running gateway looks at them before the command ends, so that what comes next
// goes by what it was told. The files are written either way, so what stands in between is only told.

import { existsSync } from 'node:fs'
import { Fault } from '../base/fault.ts'
import { gatewaySocket, type Places } from '../base/places.ts'
import { realPath } from '../config/sources.ts'
import type { Standing } from '../gateway/api-types.ts'
import { nearPath } from './describe.ts'
import { askGateway } from './gateway-client.ts'
import type { Session } from './session.ts'

/** Milliseconds; it reads a few files, and waits a second for what may yet be trusted. */
const PATIENCE = 5_000

interface Changed {
  readonly files: readonly string[]
  /** Servers that it is about; what is not trusted of others is no news. */
  readonly servers?: readonly string[]
  /** Whether it is about what a person trusts no more, so that it is not in force is what was wanted. */
  readonly untrusted?: boolean
}

/** Returns when the gateway of this home has taken over what was changed, or it was said why not. */
export async function acknowledged(
  { out, signal }: Session,
  places: Places,
  { files, servers = [], untrusted: isWanted = false }: Changed,
): Promise<void> {
  if (files.length === 0 || !existsSync(gatewaySocket(places))) return
  const written = new Set(files.map(realPath))
  let standing: Standing
  try {
    const asking = { method: 'POST', path: '/api/config/look', signal, timeout: PATIENCE } as const
    standing = await askGateway<Standing>(places, asking)
  } catch (error) {
    if (!(error instanceof Fault) || signal.aborted) throw error
    if (!GONE.has(error.code)) out.warn(notYet(error.message))
    return
  }
  if (!standing.files.some((file) => written.has(realPath(file)))) return
  const { refused, untrusted } = standing
  if (refused.length > 0)
    out.warn(
      'it is written, but the running gateway goes by the last good configuration, and by what is switched off: ' +
        refused.join('; '),
    )
  if (isWanted) return
  for (const { kind, name, file, isNew } of untrusted)
    if (kind === 'server' ? servers.includes(name) : written.has(realPath(file))) {
      const what = kind === 'server' ? `${name} is` : `the settings of ${nearPath(file)} are`
      const so = isNew
        ? 'goes by nothing of it'
        : 'goes by what was trusted last, and by what is switched off'
      out.warn(`it is written, but ${what} not trusted, so the running gateway ${so}; run: busbar trust`)
    }
}

// --- internal ---

/** It runs no more, or will not for long. */
const GONE: ReadonlySet<string> = new Set(['GATEWAY_ABSENT', 'CLOSED'])

function notYet(reason: string): string {
  return `it is written, but the running gateway has not taken it over: ${reason}`
}
