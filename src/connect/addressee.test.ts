import { expect, onTestFinished, test } from 'vitest'
import { Numbered } from '../base/numbered.ts'
import { type NotificationMessage, readMessage } from '../wire/message.ts'
import { Addressees, isDoubt } from './addressee.ts'
import type { Asker } from './asker.ts'
import { Pending } from './pending.ts'
import { Turns } from './turns.ts'

const asker = (client: string): Asker => ({
  client,
  canAnswer: true,
  question: async () => ({ result: {} }),
  remark: () => undefined,
})
const [ann, bob] = [asker('ann'), asker('bob')]
const IDLE = 60_000
const CALL = { method: 'tools/call', name: 'tool' } as const

/** A server with calls under way, which asks. */
function server({ own = false, calls = [] as readonly (Asker | undefined)[], heard = [] as string[] } = {}) {
  const pending = new Numbered<Pending>()
  const receiver = { answered: () => undefined, failed: () => undefined }
  const told = (id: number) => (message: NotificationMessage) => void heard.push(`${id} ${message.method}`)
  for (const [index, caller] of calls.entries())
    pending.set(
      index + 1,
      new Pending({ ...CALL, asker: caller, onNotification: told(index + 1) }, receiver, 0),
    )
  const turns = new Turns('files')
  onTestFinished(() => turns.aftermath.clear())
  const addressees = new Addressees(pending, turns, own)
  const asks = (method = 'elicitation/create', stream?: number) => {
    const message = readMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method })))
    if (message.kind !== 'request') throw new Error(message.kind)
    const meant = addressees.ofQuestion(message, stream)
    return isDoubt(meant) ? meant.doubt.split(',')[0] : meant
  }
  return { turns, asks, addressees }
}

const call = (caller: Asker | undefined) => ({ subject: 'tool', client: caller?.client, idle: IDLE })

test('a question is for the only one who calls, on a stream of its own or on one for all', () => {
  expect(server({ calls: [ann, ann] }).asks()).toBe(ann)
  const { asks } = server({ calls: [ann, bob] })
  expect(asks('elicitation/create', 2)).toBe(bob)
  expect(asks('elicitation/create', 3)).toContain('is over')
  expect(asks()).toContain('several clients are calling')
})

test('a question is for nobody when somebody else was answered, or gave up, a moment ago', () => {
  for (const [before, now, said] of [
    [ann, bob, true],
    [undefined, bob, true],
    [ann, undefined, true],
    [ann, ann, false],
    [undefined, undefined, false],
  ] as const) {
    const answered = server({ calls: [now] })
    answered.turns.aftermath.answered(call(before))
    expect(answered.asks()).toEqual(said ? expect.stringContaining('was answered a moment ago') : now)
    const left = server({ calls: [now] })
    left.turns.aftermath.gaveUp(9, call(before))
    expect(left.asks()).toEqual(said ? expect.stringContaining('gave up a call') : now)
    left.turns.aftermath.answeredLate(9)
    left.turns.aftermath.clear()
    expect(left.asks()).toBe(now)
  }
})

test('remarks go to the only one who calls, unless another gave up', () => {
  const { addressees, turns } = server({ calls: [bob] })
  turns.aftermath.answered(call(ann))
  expect(addressees.ofRemark()).toBe(bob)
  turns.aftermath.gaveUp(9, call(ann))
  expect(addressees.ofRemark()).toHaveProperty('doubt')
  expect(server().addressees.ofRemark()).toBeUndefined()
})

test('of those who cannot be asked, the only one hears a remark by its request, and of several nobody', () => {
  const silent: Asker = { client: '', canAnswer: false, question: async () => ({ result: {} }) }
  const heard: string[] = []
  const meant = server({ calls: [silent], heard }).addressees.ofRemark()
  const message = readMessage(Buffer.from('{"jsonrpc":"2.0","method":"notifications/acme/thing"}'))
  if (message.kind !== 'notification' || meant === undefined || isDoubt(meant))
    throw new Error('nobody is meant')
  meant.remark?.(message)
  expect(heard).toEqual(['1 notifications/acme/thing'])
  expect(server({ calls: [silent, silent], heard }).addressees.ofRemark()).toHaveProperty('doubt')
  // Another of them gave up: it may be the one that is meant.
  const left = server({ calls: [silent], heard })
  left.turns.aftermath.gaveUp(9, call(silent))
  expect(left.addressees.ofRemark()).toHaveProperty('doubt')
})

test('a server that asked outside of calls asks nobody from then on, unless it is for one alone', () => {
  for (const [own, method, given, over] of [
    [false, 'elicitation/create', false, true],
    [false, 'sampling/createMessage', false, true],
    // When servers start they ask for folders, and what was given up may ask outside of what is under way.
    [false, 'roots/list', false, false],
    [false, 'elicitation/create', true, false],
    [true, 'elicitation/create', false, false],
  ] as const) {
    const { turns, asks } = server({ own })
    if (given) turns.aftermath.gaveUp(9, call(ann))
    expect(asks(method)).toBeUndefined()
    expect([method, own, turns.areOver]).toEqual([method, own, over])
  }
  const { turns, asks } = server({ calls: [ann] })
  turns.end()
  expect(asks()).toContain('has asked outside of calls')
})

test('where a question comes outside of its stream, calls take turns from then on', () => {
  for (const [method, calls, taken] of [
    ['elicitation/create', [ann], true],
    ['sampling/createMessage', [ann, bob], true],
    ['roots/list', [ann], false],
    ['elicitation/create', [undefined], false],
    ['elicitation/create', [], false],
  ] as const) {
    const { turns, asks } = server({ calls })
    asks('elicitation/create', 1)
    expect(turns.taken).toBe(false)
    asks(method)
    expect([method, calls.length, turns.taken]).toEqual([method, calls.length, taken])
  }
})
