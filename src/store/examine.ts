// Whether the store could be opened, told without changing it.

import { Fault } from '../base/fault.ts'
import { MIGRATIONS } from './migrations.ts'
import { loadDriver } from './sqlite-driver.ts'
import { storeFault } from './sqlite-fault.ts'
import { judge } from './sqlite-file.ts'

/** What is wrong with the file of a store; `absent` when there is none yet. */
export async function examineStore(
  file: string,
  known: number = MIGRATIONS.length,
): Promise<Fault | 'absent' | undefined> {
  try {
    const judgement = await judge(await loadDriver(), file)
    switch (judgement.kind) {
      case 'absent':
        return 'absent'
      case 'unusable':
        return new Fault('STORE_DAMAGED', `${file} ${judgement.reason}`, {
          hint: `restore a copy of it (${file}.backup-v…); else the next command moves it aside and begins anew`,
        })
      case 'usable':
        return judgement.version > known
          ? new Fault('STORE_NEWER', `${file} was written by a newer Busbar (version ${judgement.version})`, {
              hint: `use the newer Busbar again, or go back to a copy beside it (${file}.backup-v…)`,
            })
          : undefined
    }
  } catch (error) {
    const fault = storeFault(file, error)
    if (fault instanceof Fault) return fault
    throw error
  }
}
