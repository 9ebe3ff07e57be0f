// What a server's process finds in its environment: little of ours, and what its entry says.

import type { Environment } from '../../base/places.ts'
import { MARK } from './marker.ts'

/**
 * The environment of a server. `own` is Busbar's, which holds a person's keys; only names listed here pass.
 * What is configured wins over what passes, and the mark wins over both.
 */
export function childEnvironment(
  own: Environment,
  configured: Readonly<Record<string, string>>,
  marker: string,
): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(own))
    if (value !== undefined && passes(name, value)) env[name] = value
  return { ...env, ...configured, [MARK]: marker }
}

// --- internal ---

// Who the person is and where things are: npx and uvx are found by PATH, their caches by HOME.
const PERSON = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER']
// How text and times are written.
const PLACE = ['LANG', 'LANGUAGE', 'TZ']
// Names of folders, no secrets: without them a moved cache is filled twice and rootless podman fails.
const FOLDERS = ['XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_RUNTIME_DIR', 'XDG_STATE_HOME']
// A company's own authority: without it npx and uvx cannot download behind a proxy that opens TLS.
const AUTHORITIES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_DIR', 'SSL_CERT_FILE']
// What opens something (SSH_AUTH_SOCK, DBUS_SESSION_BUS_ADDRESS, DISPLAY, DOCKER_HOST) or changes how
// programs load (NODE_OPTIONS, LD_PRELOAD, PYTHONPATH) is left out; an entry can name it.
const PASSING = new Set([...PERSON, ...PLACE, ...FOLDERS, ...AUTHORITIES])

const PROXY = /^(?:https?|all|no)_proxy$/i

function passes(name: string, value: string): boolean {
  // An exported shell function: code for a shell that may be vulnerable to it (CVE-2014-6271).
  if (value.startsWith('()')) return false
  // Without its proxy a server in a company's network reaches nothing; a proxy's password stays here, though.
  if (PROXY.test(name)) return !value.includes('@')
  return PASSING.has(name) || name.startsWith('LC_')
}
