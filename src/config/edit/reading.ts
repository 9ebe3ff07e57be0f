// What both syntaxes give the editor: the data of a file, and the splices that make a change in it.

import type { Change } from './change.ts'
import type { Splice } from './splice.ts'

export type Reading =
  | {
      readonly ok: true
      readonly data: unknown
      /** The change must alter the data. The result is not trusted: the editor reads the new text again. */
      splices(change: Change): Splice[]
    }
  | { readonly ok: false; readonly problem: string }
