// What `busbar doctor` says of kept secrets: where their key is, who else could read it, and which are damaged. Those that
// are only missing are said with the servers that need them.

import { statSync } from 'node:fs'
import { Fault } from '../base/fault.ts'
import { shellWord } from '../base/shell-word.ts'
import type { Finding } from '../config/doctor.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { describeOwner } from '../secrets/owners.ts'
import { secretsFile } from '../secrets/places.ts'
import { openSecrets, type Secrets } from '../secrets/secrets.ts'
import type { StartFinding } from './doctor-start.ts'

/** Looks only. Nothing is said where nothing is kept. */
export async function examineSecrets({ places, env }: Snapshot): Promise<StartFinding[]> {
  const file = secretsFile(places)
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return []
  const secrets = await openSecrets(places, env)
  try {
    return [...permissions([file, secrets.keyFile]), ...entries(secrets)]
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { message, hint } = error
    const fix = hint === undefined ? {} : { fix: hint }
    return [...permissions([file]), { severity: 'error', check: 'secrets', message, ...fix, fault: error }]
  }
}

// --- internal ---

function permissions(files: readonly (string | undefined)[]): Finding[] {
  return files.flatMap((file): Finding[] => {
    const stats = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
    if (file === undefined || !stats || (stats.mode & 0o077) === 0 || process.platform === 'win32') return []
    return [
      {
        severity: 'warning',
        check: 'secrets',
        message: `${file} can be read by other users`,
        fix: `chmod 600 ${shellWord(file)}`,
        repair: { kind: 'mode', file, mode: 0o600 },
      },
    ]
  })
}

function entries(secrets: Secrets): Finding[] {
  const listed = secrets.list()
  const damaged = listed.filter((it) => it.damaged)
  const count = listed.length - damaged.length
  const places = {
    keyring: 'the keyring of this system',
    'key-file': secrets.keyFile ?? 'a file',
    passphrase: 'your passphrase',
  }
  return [
    {
      severity: 'ok',
      check: 'secrets',
      message: `${count} secret${count === 1 ? '' : 's'} kept; the key: ${places[secrets.protection]}`,
    },
    ...damaged.map(({ owner, field }): Finding => {
      const { text, server, again } = describeOwner(owner, field)
      return {
        severity: 'error',
        check: 'secrets',
        message: `${text} was damaged or changed by somebody else`,
        fix: again,
        ...(server === undefined ? {} : { server }),
      }
    }),
  ]
}
