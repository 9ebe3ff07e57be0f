// A process that records calls as fast as it can until it is killed, and says what it was told: `b ID` when a begin was
// written, `e ID OUTCOME` when an end was.

import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { setImmediate as breathe } from 'node:timers/promises'
import { Names } from '../../src/record/names.ts'
import { type OpenCall, Recorder } from '../../src/record/recorder.ts'
import { openStore } from '../../src/store/open.ts'

const [file = '', folder = '', key = ''] = process.argv.slice(2)
const SAID = 3
const OUTCOMES = ['ok', 'error', 'timeout', 'denied'] as const

function onTrouble(message: string): void {
  writeSync(SAID, `t ${message}\n`)
}

const store = await openStore({ file, sealKey: key, onTrouble })
const recorder = await Recorder.open({ store, folder, onTrouble, batch: { rows: 64, milliseconds: 5 } })
process.stdout.write('ready\n')

/** Says something once the recorder has written what it is about. */
async function say(lines: readonly string[]): Promise<void> {
  const fault = await recorder.written()
  if (fault) onTrouble(fault.message)
  else if (lines.length > 0) writeSync(SAID, lines.join(''))
}

const open: OpenCall[] = []
for (let count = 0; ; count++) {
  // Several in one turn, as when many agents call at once.
  const begun = Array.from({ length: 1 + (count % 4) }, () =>
    recorder.begin({
      id: randomUUID(),
      names: new Names('cto', `s${count % 3}`, 'work', 'library'),
      startedAt: Date.now(),
      requestBytes: 1,
      // Large enough for journals to be begun anew now and then.
      arguments: 'x'.repeat(count % 10 === 0 ? 20_000 : 10),
    }),
  )
  open.push(...begun)
  await say(begun.map(({ start }) => `b ${start.id}\n`))
  // Up to sixteen at once, ending in any order; now and then all of them, so that the journal is emptied too.
  const most = count % 50 === 0 ? 0 : 16
  const ended: string[] = []
  while (open.length > most) {
    const [call] = open.splice(Math.floor(Math.random() * open.length), 1)
    if (call === undefined) break
    const outcome = OUTCOMES[count % OUTCOMES.length] ?? 'ok'
    recorder.end(call, { duration: 1, outcome, resultBytes: 1 })
    ended.push(`e ${call.start.id} ${outcome}\n`)
  }
  await say(ended)
  if (count % 7 === 0) await breathe()
}
