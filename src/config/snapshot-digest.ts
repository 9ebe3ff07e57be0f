// Whether two readings of the configuration are the same: a command may ask a running gateway only about its own.

import { sha256 } from '../base/digest.ts'
import { canonical } from './canonical.ts'
import type { Snapshot } from './snapshot.ts'

export function configDigest({ config, root }: Pick<Snapshot, 'config' | 'root'>): string {
  return sha256(canonical({ config, root }))
}
