// A process that makes calls which were allowed once each, as fast as it can, until it is killed. It says `u NUMBER` when
// the desk let a call through.

import { writeSync } from 'node:fs'
import { ApprovalDesk } from '../../src/policy/approvals.ts'
import { Memories } from '../../src/policy/memories.ts'
import { openStore } from '../../src/store/open.ts'
import { approvedCall } from './approved-call.ts'

const [file = '', count = '0'] = process.argv.slice(2)
const SAID = 3

function onTrouble(message: string): void {
  writeSync(SAID, `t ${message}\n`)
}

const store = await openStore({ file, sealKey: 'k', onTrouble })
const desk = new ApprovalDesk({
  approvals: store.approvals,
  memories: await Memories.open(store.rules),
  expiry: () => 3_600_000,
  onChange: () => undefined,
  onTrouble,
})
process.stdout.write('ready\n')

const numbers = Array.from({ length: Number(count) }, (_, number) => number).sort(() => Math.random() - 0.5)
for (;;)
  for (const number of numbers)
    try {
      await desk.permit(approvedCall(number), { wait: 0 })
      writeSync(SAID, `u ${number}\n`)
    } catch (error) {
      // Used already: then it asks anew, which nobody answers, until too many are open.
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code !== 'APPROVAL_PENDING' && code !== 'APPROVALS_FULL') throw error
    }
