// A process that spends energy as fast as it can until it is killed: sets it aside, records the call, settles what it took,
// which is less or more than was thought.

import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { setImmediate as breathe } from 'node:timers/promises'
import { Fault } from '../../src/base/fault.ts'
import { Regulator, type Reservation } from '../../src/policy/energy.ts'
import { Names } from '../../src/record/names.ts'
import { type OpenCall, Recorder } from '../../src/record/recorder.ts'
import { openStore } from '../../src/store/open.ts'
import { ACCOUNTS } from './energy-accounts.ts'

const [file = '', folder = '', key = ''] = process.argv.slice(2)
const SAID = 3

function onTrouble(message: string): void {
  writeSync(SAID, `t ${message}\n`)
}

const store = await openStore({ file, sealKey: key, onTrouble })
const recorder = await Recorder.open({ store, folder, onTrouble, batch: { rows: 64, milliseconds: 5 } })
const regulator = Regulator.open({ store, owner: recorder.owner, onTrouble })
await regulator.configure(ACCOUNTS)
process.stdout.write('ready\n')

const AGENTS = [...ACCOUNTS.keys(), 'rich/worker']
const open: { readonly call: OpenCall; readonly reservation: Reservation }[] = []

async function begin(agent: string): Promise<void> {
  let reservation: Reservation
  try {
    reservation = await regulator.reserve(agent, Math.random() * 3)
  } catch (error) {
    if (error instanceof Fault && error.code === 'OUT_OF_ENERGY') return
    throw error
  }
  const reserved = reservation.amount
  const call = recorder.begin({
    id: randomUUID(),
    names: new Names(agent, 's', 'work', 'library'),
    startedAt: Date.now(),
    requestBytes: 1,
    arguments: JSON.stringify({ reserved }),
    reserved,
  })
  open.push({ call, reservation })
}

for (let count = 0; ; count++) {
  await Promise.all(
    Array.from({ length: 1 + (count % 4) }, (_, index) =>
      begin(AGENTS[(count + index) % AGENTS.length] ?? ''),
    ),
  )
  const fault = await recorder.written()
  if (fault) onTrouble(fault.message)
  // Up to sixteen at once, ending in any order; now and then all of them, so that the journal is emptied too.
  const most = count % 50 === 0 ? 0 : 16
  while (open.length > most) {
    const [one] = open.splice(Math.floor(Math.random() * open.length), 1)
    if (one === undefined) break
    const energy = regulator.settle(one.reservation, one.reservation.amount * Math.random() * 1.7)
    recorder.end(one.call, { duration: 1, outcome: 'ok', energy, resultBytes: 1 })
  }
  await recorder.written()
  if (count % 30 === 0) await regulator.refresh()
  if (count % 7 === 0) await breathe()
}
