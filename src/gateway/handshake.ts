// How the gateway introduces itself, in both eras: for one server, from what that said of itself; for all, in its own name.

import { VERSION } from '../base/version.ts'
import type { Implementation } from '../wire/era.ts'
import { META, MODERN_VERSION } from '../wire/era.ts'

export interface Introduction {
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly serverInfo: Implementation | undefined
  readonly instructions: string | undefined
}

/** To those who use all servers as one. */
export const SELF: Implementation = { name: 'busbar', version: VERSION }

export function initializeResult(
  { capabilities, serverInfo, instructions }: Introduction,
  version: string,
): object {
  return {
    protocolVersion: version,
    capabilities,
    serverInfo: serverInfo ?? { name: 'unknown', version: '' },
    ...(instructions === undefined ? {} : { instructions }),
  }
}

export function discoverResult({ capabilities, serverInfo, instructions }: Introduction): object {
  return {
    resultType: 'complete',
    supportedVersions: [MODERN_VERSION],
    capabilities,
    ...(instructions === undefined ? {} : { instructions }),
    ttlMs: 0,
    cacheScope: 'private',
    ...(serverInfo ? { _meta: { [META.server]: serverInfo } } : {}),
  }
}
