// What reading the configuration yields.

import type { Environment, Places } from '../base/places.ts'
import type { CatalogEntry } from './catalog.ts'
import type { Layer, Source } from './layer.ts'
import type { Problem } from './problem.ts'
import type { Assignment } from './resolve.ts'
import type { Config } from './schema.ts'
import type { Server } from './schema-server.ts'
import type { SecretReader } from './secret-reader.ts'
import type { Candidate } from './sources.ts'
import type { Place, Scope, Tree } from './tree.ts'

/** A file that was looked for. */
export interface Looked {
  readonly scope: Scope
  readonly file: string
  readonly state: 'read' | 'absent' | 'broken'
  /** It stands where only our native format is expected. */
  readonly own: boolean
  readonly format?: string
}

/** One server by name, with where it came from. */
export interface ServerEntry {
  readonly name: string
  readonly scope: Scope
  /** Where it is defined. */
  readonly place: Place
  /** Where a person wrote its name: for a catalog server the list that asks for it. */
  readonly mention: Place
  /** As written, defaults applied, variables not expanded; undefined when it has problems. */
  readonly definition: Server | undefined
  /** The parts a person wrote, with their places; undefined for one that only stands in the catalog. */
  readonly tree: Tree | undefined
  /** Files that had a part in it. */
  readonly sources: readonly Source[]
  /** Definitions of the same name in lower layers that this one hides. */
  readonly hides: readonly Place[]
  readonly catalog: CatalogEntry | undefined
  readonly problems: readonly Problem[]
}

export interface Snapshot {
  /** The project's folder. */
  readonly root: string
  readonly env: Environment
  readonly places: Places
  /** Kept secrets, where a value refers to one. */
  readonly secrets: SecretReader | undefined
  readonly looked: readonly Looked[]
  readonly layers: readonly Layer[]
  /** What the MCP_* variables say. */
  readonly environment: Tree | undefined
  readonly tree: Tree
  readonly config: Config
  readonly servers: ReadonlyMap<string, ServerEntry>
  readonly assignments: readonly Assignment[]
  /** Names of the servers that start by themselves. */
  readonly starts: ReadonlySet<string>
  /** Of what may be acted on: agents and workers that are left out, by name, with the file that is not trusted yet. */
  readonly waiting: ReadonlyMap<string, string>
  readonly problems: readonly Problem[]
  /** Of problems with files: the file that was looked for and has it, itself or in what it extends. */
  readonly raisedBy: ReadonlyMap<Problem, Candidate>
}
