import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Stopper } from '../base/stop.ts'
import type { Actor } from '../policy/access.ts'
import { type RequestMessage, readMessage } from '../wire/message.ts'
import type { Forwarding } from './questions.ts'
import { Reply } from './reply.ts'
import { Session } from './session.ts'
import { openSession, sealSession, sessionKey } from './session-id.ts'
import { Sessions, type SessionsOptions } from './sessions.ts'

const ADA: Actor = { kind: 'agent', id: 'ada' }
const BOB: Actor = { kind: 'agent', id: 'bob' }
const ASKABLE = { form: true, url: false, sampling: false, roots: false }
const AGREED = { version: '2025-11-25', askable: ASKABLE }
const key = sessionKey('a secret')
const forwarding: Forwarding = {
  gone: () => undefined,
  rootsChanged: () => undefined,
  consent: async () => ({ answered: async () => undefined, failed: async () => undefined }),
  tell: () => undefined,
}

function sessions(options: Partial<SessionsOptions> = {}): Sessions {
  const all = new Sessions({
    key,
    most: () => 3,
    idle: () => 60_000,
    forwarding,
    report: () => undefined,
    ...options,
  })
  onTestFinished(() => all.close())
  return all
}

/** An answer that can be streamed and goes nowhere. */
class Heard extends Reply {
  readonly said: string[] = []
  readonly ended = false
  readonly streams = true
  notify(body: Buffer): void {
    this.said.push(body.toString())
  }
  open(): void {}
  send(): void {}
  accepted(): void {}
}

test('an idle session is forgotten, and comes back by its id as long as that says all of it', () => {
  const all = sessions({ idle: () => 1000 })
  const plain = all.create(ADA, undefined, AGREED)
  const levelled = all.create(ADA, undefined, AGREED)
  levelled.level = 'debug'
  const now = performance.now()
  all.sweep(now + 500)
  expect(all.size).toBe(2)
  all.sweep(now + 2000)
  expect(all.size).toBe(0)
  expect(all.find(levelled.id, ADA, undefined)).toBeUndefined()
  const back = all.find(plain.id, ADA, undefined)
  expect(back?.id).toBe(plain.id)
  expect(back).not.toBe(plain)
})

test('one that had a process of its own does not come back without it', () => {
  const all = sessions({ idle: () => 1000 })
  const session = all.create(ADA, undefined, AGREED)
  session.hasInstance()
  expect(all.find(session.id, ADA, undefined)).toBe(session)
  all.sweep(performance.now() + 2000)
  expect(all.find(session.id, ADA, undefined)).toBeUndefined()
})

test('[D16] what was ended, or had more than its id says, is over in the next run, too; the rest is not', () => {
  const folder = mkdtempSync(join(tmpdir(), 'busbar-sessions-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const spentFile = join(folder, 'spent')
  const first = sessions({ spentFile, most: () => 10 })
  const [plain, ended, levelled, subscribed] = [1, 2, 3, 4].map(() => first.create(ADA, undefined, AGREED))
  if (!plain || !ended || !levelled || !subscribed) throw new Error('there are four')
  first.end(ended)
  levelled.level = 'debug'
  levelled.level = 'info'
  subscribed.subscribe('docs a:1', () => undefined)
  expect(first.find(subscribed.id, ADA, undefined)).toBe(subscribed)
  const text = readFileSync(spentFile, 'utf8')
  expect([text.split('\n').length, text.includes(ended.id)]).toEqual([4, false])
  // As after a crash: a line of long ago, and half a line.
  writeFileSync(spentFile, `${'0'.repeat(32)} 1\n${text}0123`)
  const second = sessions({ spentFile, most: () => 10 })
  expect(second.find(plain.id, ADA, undefined)).toBeDefined()
  for (const { id } of [ended, levelled, subscribed]) expect(second.find(id, ADA, undefined)).toBeUndefined()
  expect(readFileSync(spentFile, 'utf8')).toBe(text)
})

test('whoever asks for a session uses it, if it is theirs', () => {
  const all = sessions({ idle: () => 1000 })
  const session = all.create(ADA, 'docs', AGREED)
  for (const [actor, kept] of [
    [ADA, 1],
    [BOB, 0],
  ] as const) {
    session.used = performance.now() - 900
    all.find(session.id, actor, 'docs')
    all.sweep(performance.now() + 500)
    expect(all.size).toBe(kept)
  }
})

test('one that is found idle is over before it is swept', () => {
  const all = sessions({ idle: () => 1000 })
  const [plain, levelled] = [all.create(ADA, undefined, AGREED), all.create(ADA, undefined, AGREED)]
  levelled.level = 'debug'
  for (const session of [plain, levelled]) session.used = performance.now() - 5000
  expect(all.find(plain.id, ADA, undefined)).not.toBe(plain)
  expect(all.find(levelled.id, ADA, undefined)).toBeUndefined()
})

test('the one that was not used for longest gives way; when all are in use, there is a reason and no session', () => {
  const all = sessions()
  const [first, second, third] = [1, 2, 3].map((used) => {
    const session = all.create(ADA, undefined, AGREED)
    session.used = performance.now() - 1000 + used
    return session
  })
  for (let count = 0; count < 3; count++) all.create(BOB, undefined, AGREED)
  const fourth = all.create(ADA, undefined, AGREED)
  expect([...all].includes(first as Session)).toBe(false)
  for (const session of [second, third, fourth]) session?.begin(1, new Heard(), 'docs')
  expect(() => all.create(ADA, undefined, AGREED)).toThrow('ada has 3 sessions in use')
  expect(() => all.find(first?.id ?? '', ADA, undefined)).toThrow(
    expect.objectContaining({ code: 'GATEWAY_LIMIT', hint: expect.stringContaining('gateway.limits') }),
  )
  expect(all.find(second?.id ?? '', ADA, undefined)).toBe(second)
})

test('an id tells whose it is and what was agreed, to whoever has the key', () => {
  const claims = { agent: 'ada', scope: 'docs', ...AGREED, since: 1_700_000_000_000 }
  const id = sealSession(claims, key)
  expect(openSession(id, key)).toEqual(claims)
  expect(openSession(id, sessionKey('another'))).toBeUndefined()
  for (const wrong of ['', '.', 'x.y', `${id}x`, `${id}.`, `${id}.more`, id.slice(1), id.slice(0, -1)])
    expect(openSession(wrong, key)).toBeUndefined()
})

test('an id is worth something for a day', () => {
  const all = sessions()
  const claims = { agent: 'ada', scope: undefined, ...AGREED }
  const day = 24 * 60 * 60 * 1000
  expect(all.find(sealSession({ ...claims, since: Date.now() - day / 2 }, key), ADA, undefined)).toBeDefined()
  expect(
    all.find(sealSession({ ...claims, since: Date.now() - day - 5000 }, key), ADA, undefined),
  ).toBeUndefined()
})

function question(): RequestMessage {
  const text = '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?"}}'
  return readMessage(Buffer.from(text)) as RequestMessage
}

function asked(questionPatience: number) {
  const options = { actor: ADA, scope: undefined, ...AGREED, forwarding, introduced: true }
  const session = new Session({ id: 'x', ...options, questionPatience })
  const reply = new Heard()
  session.begin(1, reply, 'docs')
  return { session, reply, given: session.asker('docs').question(question(), new Stopper()) }
}

test('a server that asks a client which went away is told so', async () => {
  const { session, reply, given } = asked(1)
  await expect.poll(() => reply.said).toHaveLength(1)
  session.left()
  expect(await given).toEqual({ error: { code: -32603, message: 'the client has gone' } })
})

test('a client that comes back in time can still answer', async () => {
  const { session, reply, given } = asked(1)
  await expect.poll(() => reply.said).toHaveLength(1)
  session.left()
  session.read({ closed: false, event() {}, mark() {}, end() {}, onClose() {} }, undefined)
  // Timers of one length fire in their order, so its patience is over now.
  await new Promise((resolve) => setTimeout(resolve, 1))
  const answer = readMessage(Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}'))
  if (answer.kind !== 'result') throw new Error('it is no result')
  session.answered(answer)
  expect(await given).toEqual({ reply: answer })
})

test('a question that cannot reach its client is not kept for later', async () => {
  const options = { actor: ADA, scope: undefined, ...AGREED, forwarding, introduced: true }
  const session = new Session({ id: 'x', ...options })
  const given = await session.asker('docs').question(question(), new Stopper())
  expect(given).toMatchObject({ error: { message: 'the client cannot be reached at this moment' } })
  const events: string[] = []
  session.read(
    {
      closed: false,
      event: (pieces) => void events.push(Buffer.concat([...pieces]).toString()),
      mark() {},
      end() {},
      onClose() {},
    },
    undefined,
  )
  expect(events).toEqual([])
})
