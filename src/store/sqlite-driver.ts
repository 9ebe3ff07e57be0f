// Where SQLite comes from: Node's own where it has one, else the package with the same interface. Loaded at the first
// store, since most commands open none.

export type SqlValue = string | number | null

/** The few methods that are used of either. */
export interface Statement {
  run(...values: SqlValue[]): { changes: number | bigint }
  get(...values: SqlValue[]): unknown
  all(...values: SqlValue[]): unknown[]
}

export interface Database {
  prepare(sql: string): Statement
  exec(sql: string): void
  close(): void
}

export type OpenDatabase = (file: string) => Database

export async function loadDriver(): Promise<OpenDatabase> {
  // Older versions of Node know no such module and answer undefined. Both offer the class that `Driver` describes.
  const own = process.getBuiltinModule?.('node:sqlite') as Driver | undefined
  const { DatabaseSync }: Driver = own ?? (await import('@photostructure/sqlite'))
  return (file) => new DatabaseSync(file)
}

// --- internal ---

interface Driver {
  readonly DatabaseSync: new (file: string) => Database
}
