// The SQLite store does what every store must.

import { storeSuite } from './suite.ts'
import { sqlitePlace } from './suite-sqlite.ts'

for (const [name, open] of [['sqlite', sqlitePlace]] as const) storeSuite(name, open)
