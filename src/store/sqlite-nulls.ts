// The database says null where callers' types leave a field out.

/** A row whose statement names the columns like the fields of `T`. */
export type Nullable<T> = { readonly [Key in keyof T]-?: Exclude<T[Key], undefined> | null }

/** The row as a plain object without its nulls. */
export function withoutNulls<T>(row: Nullable<T>): T {
  // Columns of fields that must be there are NOT NULL, so only optional ones are left out.
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as T
}
