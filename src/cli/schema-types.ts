// Which JSON types a schema lets an argument have. Enough to read what a person typed; not a validator.

import { isRecord } from '../base/record.ts'

export type Schema = Readonly<Record<string, unknown>>

/** The types a property may have; empty when it says none, which means any. `root` is where its references point. */
export function typesOf(property: unknown, root: Schema, depth = 8): ReadonlySet<string> {
  if (!isRecord(property) || depth === 0) return new Set()
  const { type, $ref } = property
  if (typeof $ref === 'string') return typesOf(lookUp($ref, root), root, depth - 1)
  if (typeof type === 'string') return new Set([type])
  if (Array.isArray(type)) return new Set(type.map(String))
  const values = Array.isArray(property['enum'])
    ? property['enum']
    : 'const' in property
      ? [property['const']]
      : []
  if (values.length > 0) return new Set(values.map(typeOfValue))
  const all = property['allOf']
  if (Array.isArray(all)) {
    const said = all.map((part) => typesOf(part, root, depth - 1)).filter((types) => types.size > 0)
    return said[0] ?? new Set()
  }
  const options = property['anyOf'] ?? property['oneOf']
  if (!Array.isArray(options)) return new Set()
  const types = options.map((option) => typesOf(option, root, depth - 1))
  // One that may be anything makes all of it anything.
  return types.some((option) => option.size === 0)
    ? new Set()
    : new Set(types.flatMap((option) => [...option]))
}

// --- internal ---

/** What `#/$defs/name` means. */
function lookUp(reference: string, root: Schema): unknown {
  if (!reference.startsWith('#/')) return undefined
  let found: unknown = root
  for (const step of reference.slice(2).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isRecord(found) && Object.hasOwn(found, key) ? found[key] : undefined
  }
  return found
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
