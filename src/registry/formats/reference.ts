// Where a `$ref` inside one schema leads. Nothing is ever fetched.

import { isRecord } from '../../base/record.ts'

export type Target =
  | { readonly kind: 'found'; readonly schema: unknown; readonly name: string }
  | { readonly kind: 'lost'; readonly note: string }

/** The schema a reference means. */
export function follow(root: Readonly<Record<string, unknown>>, reference: string): Target {
  if (reference === '#' || reference === '#/') return { kind: 'found', schema: root, name: 'whole' }
  if (!reference.startsWith('#/')) return { kind: 'lost', note: 'Described elsewhere.' }
  const path = reference.slice(2).split('/').map(decode)
  let at: unknown = root
  for (const key of path) {
    if (!(isRecord(at) || Array.isArray(at)) || !Object.hasOwn(at, key))
      return { kind: 'lost', note: 'Not described.' }
    at = (at as Readonly<Record<string, unknown>>)[key]
  }
  return { kind: 'found', schema: at, name: path.at(-1) ?? 'whole' }
}

// --- internal ---

/** A step of a JSON pointer in a URL fragment. */
function decode(step: string): string {
  let text = step
  try {
    text = decodeURIComponent(step)
  } catch {
    // A bare % that stands for itself.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}
