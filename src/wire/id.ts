// Ids of JSON-RPC. An integer beyond what a double holds is kept as what it is, so that it is given back digit by digit.

/** What JSON-RPC allows as an id, and null, which only answers to unreadable requests carry. */
export type Id = string | number | bigint | null

/** The id that a piece of JSON says; undefined when it is none. */
export function idFrom(text: string): Id | undefined {
  const value: unknown = JSON.parse(text)
  if (typeof value === 'string' || value === null) return value
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined
  return Number.isInteger(value) && !Number.isSafeInteger(value) && INTEGER.test(text) ? BigInt(text) : value
}

/** An id as JSON; JSON.stringify knows no large integers. */
export function idText(id: Id): string {
  return typeof id === 'bigint' ? String(id) : JSON.stringify(id)
}

// --- internal ---

const INTEGER = /^-?\d+$/
