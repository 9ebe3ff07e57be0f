// A server's definition as it may be shown: secrets masked, references left readable.

import { isRecord } from '../base/record.ts'
import { isSecretName, MASK, maskArguments, maskText } from '../base/redact.ts'
import { isReference } from './expand.ts'
import { isLoader } from './hazards.ts'

/** Values that say nothing secret whatever they are called. */
const HARMLESS = /^(?:true|false|\d{1,5})$/i
/** Parts in which every literal text may be a secret. */
const GUARDED = new Set(['env', 'headers'])

/** A copy with everything masked that may be a secret. Works on whole configurations and on parts of them. */
export function maskSecrets(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return maskValue(value, key)
  if (Array.isArray(value))
    return key === 'args' && value.every((item) => typeof item === 'string')
      ? maskArguments(value, holdsReference)
      : value.map((item) => maskSecrets(item, key))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      GUARDED.has(key) && typeof item === 'string' && !isLoader(name)
        ? maskGuarded(item)
        : maskSecrets(item, name),
    ]),
  )
}

// --- internal ---

function maskValue(text: string, key: string): string {
  if (isSecretName(key) && !holdsReference(text)) return text === '' ? text : MASK
  return maskText(text)
}

/** Environment and header values: a reference is shown, with the plain words around it; a literal is not. */
function maskGuarded(text: string): string {
  return HARMLESS.test(text) || text === '' || holdsReference(text) ? text : MASK
}

/** References and nothing else but a scheme word such as `Bearer`, or a path below a folder we know. */
function holdsReference(text: string): boolean {
  if (/^\$\{(?:workspaceFolder|userHome)\}[\w./-]*$/.test(text)) return true
  return isReference(text.replace(/^(?:Bearer|Basic|Token|token)\s+/, ''))
}
