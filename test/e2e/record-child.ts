// A process that records calls as fast as it can until it is killed, and says what it was told: `b ID` when a begin has
// returned, `e ID OUTCOME` when an end has.

import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { setImmediate as breathe } from 'node:timers/promises'
import { Recorder } from '../../src/record/recorder.ts'
import { openStore } from '../../src/store/open.ts'

const [file = '', folder = '', key = ''] = process.argv.slice(2)
const SAID = 3
const OUTCOMES = ['ok', 'error', 'timeout', 'denied'] as const

function onTrouble(message: string): void {
  writeSync(SAID, `t ${message}\n`)
}

const store = await openStore({ file, hmacKey: key, onTrouble })
const recorder = await Recorder.open({ store, folder, onTrouble, batch: { rows: 64, milliseconds: 5 } })
process.stdout.write('ready\n')

const open: { id: string; ticket: number }[] = []
for (let count = 0; ; count++) {
  const id = randomUUID()
  const ticket = recorder.begin({
    id,
    agent: 'cto',
    server: `s${count % 3}`,
    tool: 'work',
    surface: 'library',
    startedAt: Date.now(),
    requestBytes: 1,
    // Large enough for journals to be begun anew now and then.
    arguments: 'x'.repeat(count % 10 === 0 ? 20_000 : 10),
  })
  writeSync(SAID, `b ${id}\n`)
  open.push({ id, ticket })
  // Up to sixteen at once, ending in any order; now and then all of them, so that the journal is emptied too.
  const most = count % 50 === 0 ? 0 : 16
  while (open.length > most) {
    const [ended] = open.splice(Math.floor(Math.random() * open.length), 1)
    if (ended === undefined) break
    const outcome = OUTCOMES[count % OUTCOMES.length] ?? 'ok'
    recorder.end(ended.ticket, { duration: 1, outcome, resultBytes: 1 })
    writeSync(SAID, `e ${ended.id} ${outcome}\n`)
  }
  if (count % 7 === 0) await breathe()
}
