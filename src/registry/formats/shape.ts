// What a schema says of a value, in the few words that all providers can be told. Constraints beyond them are dropped:
// the gateway checks arguments against the server's own schema in any case.

export type TypeName = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'

export interface Shape {
  /** Absent: any. */
  readonly types?: readonly TypeName[]
  readonly title?: string
  readonly description?: string
  readonly properties?: ReadonlyMap<string, Shape>
  readonly required?: readonly string[]
  /** Properties beyond the named ones. Absent: any. */
  readonly additional?: false | Shape
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
  readonly values?: readonly unknown[]
  /** Bounds and the like, under their names in JSON Schema. */
  readonly limits?: Readonly<Record<string, unknown>>
  /** `default` and `examples`. */
  readonly notes?: Readonly<Record<string, unknown>>
}

/** Whether a shape leaves its value open altogether. */
export function isOpen(shape: Shape): boolean {
  return shape.types === undefined && shape.anyOf === undefined && shape.values === undefined
}

/** Whether a value of this shape can be an object. */
export function mayBeObject({ types }: Shape): boolean {
  return types === undefined || types.includes('object')
}

/** The properties of an object, with an open one for each that is required and not described. */
export function propertiesOf(shape: Shape): ReadonlyMap<string, Shape> {
  const known = shape.properties ?? new Map<string, Shape>()
  const missing = (shape.required ?? []).filter((name) => !known.has(name))
  return missing.length === 0 ? known : new Map([...known, ...missing.map((name) => [name, {}] as const)])
}

/** Remarks as one text of sentences; undefined when there is none. */
export function remarks(...parts: readonly (string | undefined)[]): string | undefined {
  const said = parts.filter((part): part is string => part !== undefined && part !== '')
  if (said.length < 2) return said[0]
  return said.map((part) => (/[.!?…:;。！？]\s*$/u.test(part) ? part : `${part}.`)).join(' ')
}
