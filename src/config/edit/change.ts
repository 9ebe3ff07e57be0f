// What an edit of a configuration file is made of. The two syntaxes (yaml.ts, jsonc.ts) turn changes into text splices.

export type Path = readonly (string | number)[]

export type Change =
  /** Gives `path` this value; missing parents are made (as maps), an existing value is replaced. */
  | { readonly kind: 'set'; readonly path: Path; readonly value: unknown }
  /** Takes a map's key or a list's element away; nothing happens where it is absent. */
  | { readonly kind: 'delete'; readonly path: Path }
  /** Takes every element equal to `value` out of the list at `path`; by value, since an alias may share the list. */
  | { readonly kind: 'drop'; readonly path: Path; readonly value: unknown }
  /** Puts an element at the end of the list at `path`, which is made when absent; an equal element stays the only one. */
  | { readonly kind: 'append'; readonly path: Path; readonly value: unknown }
