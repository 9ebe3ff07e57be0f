// A process that changes secrets until it is done or killed: `count` adds to one number together with others, `churn` keeps
// new values and moves the key, and says on file 3 what it was told is on disk.

import { writeSync } from 'node:fs'
import { placesOf } from '../../src/base/places.ts'
import { openSecrets } from '../../src/secrets/secrets.ts'

const [task = '', lane = ''] = process.argv.slice(2)
const SAID = 3
const secrets = await openSecrets(placesOf(process.env), process.env)

async function add(): Promise<void> {
  for (;;) {
    const held = secrets.get('server:shared', 'number')
    const next = String(Number(held?.value ?? 0) + 1)
    if ((await secrets.put('server:shared', 'number', next, held?.version ?? 0)) !== undefined) return
  }
}

async function churn(): Promise<never> {
  for (let count = Number(secrets.get(lane, 'count')?.value ?? 0) + 1; ; count++) {
    await secrets.put(lane, 'count', String(count))
    writeSync(SAID, `${count}\n`)
    process.stdout.write('kept\n')
    if (count % 3 === 0) await secrets.protect('key-file')
  }
}

if (task === 'churn') await churn()
for (let count = 0; count < Number(lane); count++) await add()
