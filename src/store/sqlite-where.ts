// Conditions that are there only when their value is given.

import type { SqlValue } from './sqlite-driver.ts'

/** Each condition has one place for its value. */
export function where(conditions: readonly (readonly [string, SqlValue | undefined])[]): {
  clause: string
  values: SqlValue[]
} {
  const given = conditions.filter(([, value]) => value !== undefined)
  const clause = given.length === 0 ? '' : `WHERE ${given.map(([condition]) => condition).join(' AND ')}`
  return { clause, values: given.map(([, value]) => value ?? null) }
}
