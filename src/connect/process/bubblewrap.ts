// Whether bubblewrap is here and may do its work: many systems have it and forbid what it needs.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Fault } from '../../base/fault.ts'
import { findCommand } from '../../config/binary.ts'
import { isolation } from './sandbox.ts'

/**
 * The path of a bubblewrap that works. It is looked for with Busbar's own PATH: a server's entry must not
 * choose who confines it. A success is remembered, a failure is not: it may be being installed.
 */
export async function findBubblewrap(network: boolean, path = process.env['PATH']): Promise<string> {
  const key = `${network} ${path}`
  const known = working.get(key)
  if (known !== undefined) return known
  const probing = probe(network, path)
  working.set(key, probing)
  probing.catch(() => working.delete(key))
  return probing
}

// --- internal ---

const working = new Map<string, Promise<string>>()
const PROBE_MS = 5000

async function probe(network: boolean, path: string | undefined): Promise<string> {
  if (process.platform !== 'linux')
    throw absent('bubblewrap exists for Linux only', 'remove `sandbox` from the entry')
  const file = findCommand('bwrap', '/', path)
  if (file === undefined)
    throw absent(
      'bubblewrap (bwrap) is not installed',
      'run: apt install bubblewrap (or dnf, pacman, apk add)',
    )
  try {
    // The same namespaces and mounts as later, around the one program that is known to exist.
    const mounts = ['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp']
    const inside = [...isolation(network), ...mounts, '--', file, '--version']
    await promisify(execFile)(file, inside, { env: {}, timeout: PROBE_MS })
    return file
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error)
    throw absent(
      `bubblewrap cannot make a sandbox here: ${said || 'it gave no reason'}`,
      'allow it user namespaces (sysctl kernel.unprivileged_userns_clone=1, or an AppArmor profile)',
      error,
    )
  }
}

function absent(message: string, hint: string, cause?: unknown): Fault {
  return new Fault('SANDBOX_ABSENT', message, { hint, cause })
}
