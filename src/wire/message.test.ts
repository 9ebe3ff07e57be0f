import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { tried } from '../base/thorough.ts'
import { idOfCut } from './ends.ts'
import {
  errorOf,
  find,
  type Id,
  type Invalid,
  isWhole,
  LARGE,
  type Message,
  memberValue,
  readAnswer,
  readMessage,
  slice,
  withId,
} from './message.ts'
import { MAX_DEPTH } from './scan.ts'
import { cuts, messageText, mutated, mutation, number, objectJson, pieces } from './testing.ts'

// Read at load, so this is a second copy of the module. It never reads the ends only: every answer is checked in full.
const COPY = './message.ts?parse'
vi.stubEnv('BUSBAR_WIRE', 'parse')
const parsing = (await import(COPY)) as typeof import('./message.ts')
vi.unstubAllEnvs()

const newId: fc.Arbitrary<Id> = fc.oneof(fc.integer(), fc.string({ unit: 'grapheme' }), fc.constant(null))
/** How each of the two sends an answer on, and what arrives of it. */
const wires = [
  ['by splicing', { readMessage, withId }, (value: unknown) => value],
  ['by parsing', parsing, (value: unknown) => JSON.parse(JSON.stringify(value))],
] as const

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The members, or what is wrong with them. */
function looked(message: Message): 'sound' | 'broken' {
  try {
    void message.members
    return 'sound'
  } catch (error) {
    expect(error).toMatchObject({ code: 'MESSAGE_INVALID' })
    return 'broken'
  }
}

function large(text: string): string {
  // In the middle of the first object inside, so that the ends stay what they are.
  const at = text.indexOf('{', 1) + 1
  if (at === 0) return text
  const empty = /^\s*\}/.test(text.slice(at))
  return `${text.slice(0, at)}"pad":"${'漢"id":1,'.replaceAll('"', '\\"').repeat(5000)}"${empty ? '' : ','}${text.slice(at)}`
}

function checkIds(text: string, id: Id, [, wire, seen]: (typeof wires)[number]): void {
  const bytes = Buffer.from(text)
  const message = wire.readMessage(bytes)
  const whole = parsed(text)
  if (message.kind === 'invalid') return
  if (looked(message) === 'broken') expect(parsing.readMessage(bytes).kind, text).not.toBe('result')
  else {
    // The same verdict as that of whoever reads everything, and never an id that JSON.parse does not see.
    expect(parsing.readMessage(bytes).kind, text).toBe(message.kind)
    const { id: given = null } = { id: undefined, ...message }
    if (message.kind !== 'notification')
      expect(typeof given === 'bigint' ? Number(given) : given).toEqual(whole?.['id'] ?? null)
    if (typeof given === 'bigint') expect(text).toContain(String(given))
  }
  if ((message.kind !== 'result' && message.kind !== 'error') || whole === undefined) return
  const sent = Buffer.concat(wire.withId(message, id))
  expect(JSON.parse(sent.toString())).toEqual(seen({ ...whole, id }))
  // Whoever reads it next finds it as sound as it was.
  if (looked(message) === 'sound') expect(readMessage(sent)).toMatchObject({ kind: message.kind, id })
}

for (const wire of wires) {
  test(`[B6] gives an answer another id and changes nothing else, ${wire[0]}`, () => {
    fc.assert(
      fc.property(messageText, newId, (text, id) => checkIds(text, id, wire)),
      { numRuns: tried(1500) },
    )
  })

  test(`[B6] gives a large answer another id and changes nothing else, ${wire[0]}`, () => {
    fc.assert(
      fc.property(messageText, newId, (text, id) => checkIds(large(text), id, wire)),
      { numRuns: 120 },
    )
  })
}

test('says of every message what whoever reads all of it says', () => {
  fc.assert(
    fc.property(messageText, fc.option(mutation), (original, change) => {
      const text = Buffer.from(change === null ? original : mutated(original, change)).toString()
      const bytes = Buffer.from(text)
      const message = readMessage(bytes)
      const full = parsing.readMessage(bytes)
      if (message.kind !== 'invalid' && looked(message) === 'broken') expect(full.kind).not.toBe('result')
      else expect(withoutBytes(message)).toEqual(withoutBytes(full))
      if (full.kind !== 'invalid') expect(parsed(text)).toBeDefined()
    }),
    { numRuns: tried(2000) },
  )
})

function withoutBytes(message: Message | Invalid) {
  const { kind } = message
  if (kind === 'invalid') return message
  const { id, method } = { id: undefined, method: undefined, ...message }
  return { kind, method, id: kind === 'result' ? message.id : id, members: message.members }
}

const spellings: [string, string][] = [
  ['the id first', '{"jsonrpc":"2.0","id":1,"result":{"n":N}}'],
  ['the id last', '{"result":{"n":N},"jsonrpc":"2.0","id":1}'],
  ['spaces', '{ "jsonrpc": "2.0", "id": 1, "result": { "n": N } }'],
  ['an error', '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"","data":N}}'],
  ['an error without an id', '{"jsonrpc":"2.0","error":{"code":-1,"message":"","data":N}}'],
]
for (const [title, spelling] of spellings)
  test(`[C9] numbers keep their digits in an answer with ${title}`, () => {
    fc.assert(
      fc.property(number, fc.boolean(), (digits, big) => {
        const text = spelling.replace('N', big ? `[${digits},"${'x'.repeat(LARGE)}"]` : digits)
        const message = readMessage(Buffer.from(text))
        if (message.kind !== 'result' && message.kind !== 'error') throw new Error(message.kind)
        const sent = Buffer.concat(withId(message, 'new')).toString()
        const body = /"(?:result|error)": ?(\{.*?\})/.exec(text)?.[1] ?? '?'
        expect(sent.includes(body)).toBe(true)
        expect(JSON.parse(sent).id).toBe('new')
      }),
      { numRuns: 40 },
    )
  })

const kinds: [string, string, object][] = [
  ['a request', '{"jsonrpc":"2.0","id":"a","method":"ping"}', { kind: 'request', id: 'a', method: 'ping' }],
  ['a request with null as id', '{"jsonrpc":"2.0","id":null,"method":"m"}', { kind: 'request', id: null }],
  ['a notification', '{"jsonrpc":"2.0","method":"n/x"}', { kind: 'notification', method: 'n/x' }],
  ['a result', '{"jsonrpc":"2.0","id":0,"result":{}}', { kind: 'result', id: 0 }],
  ['a result that is no object', '{"jsonrpc":"2.0","id":1,"result":null}', { kind: 'result', id: 1 }],
  ['an error', '{"jsonrpc":"2.0","id":-1.5,"error":{}}', { kind: 'error', id: -1.5 }],
  ['an error without an id', '{"jsonrpc":"2.0","error":{}}', { kind: 'error', id: null }],
  ['an escaped id', '{"jsonrpc":"2.0","\\u0069d":4,"result":{}}', { kind: 'result', id: 4 }],
  [
    'a result and an error',
    '{"jsonrpc":"2.0","id":4,"error":{},"result":{}}',
    { kind: 'invalid', reason: 'has both a result and an error', id: 4 },
  ],
  [
    'neither',
    '{"jsonrpc":"2.0","id":4}',
    { kind: 'invalid', reason: 'has neither a method nor one of result and error', id: 4 },
  ],
  ['no JSON', 'hello', { kind: 'invalid', reason: 'is not one JSON object' }],
  ['nothing', '', { kind: 'invalid', reason: 'is not one JSON object' }],
  [
    'a batch',
    '[{"jsonrpc":"2.0","id":1,"result":{}}]',
    { kind: 'invalid', reason: 'is not one JSON object' },
  ],
  [
    'another version',
    '{"jsonrpc":"1.0","id":1,"result":{}}',
    { kind: 'invalid', reason: 'is not JSON-RPC 2.0' },
  ],
  [
    'no version, with the id last',
    '{"result":{},"id":1}',
    { kind: 'invalid', reason: 'is not JSON-RPC 2.0' },
  ],
  ['two ids', '{"jsonrpc":"2.0","id":1,"result":{},"id":2}', { kind: 'invalid', reason: 'has id twice' }],
  [
    'two methods',
    '{"jsonrpc":"2.0","method":"a","\\u006dethod":"b"}',
    { kind: 'invalid', reason: 'has method twice' },
  ],
  [
    'two results',
    '{"jsonrpc":"2.0","result":{},"result":{},"id":1.5}',
    { kind: 'invalid', reason: 'has result twice' },
  ],
  ['an id with a leading zero', '{"jsonrpc":"2.0","id":07,"result":{}}', { kind: 'invalid' }],
  ['a last id with a leading zero', '{"result":{},"jsonrpc":"2.0","id":07}', { kind: 'invalid' }],
  [
    'an id that is an object',
    '{"jsonrpc":"2.0","id":{},"result":{}}',
    { kind: 'invalid', reason: 'has an id that is no text and no number' },
  ],
  [
    'a method that is a number',
    '{"jsonrpc":"2.0","id":5,"method":1}',
    { kind: 'invalid', reason: 'has a method that is no text', id: 5 },
  ],
  ['result and error', '{"jsonrpc":"2.0","result":1,"error":{},"id":5}', { kind: 'invalid', id: 5 }],
  ['neither result nor error', '{"jsonrpc":"2.0","id":5}', { kind: 'invalid', id: 5 }],
  ['a result without an id', '{"jsonrpc":"2.0","result":{}}', { kind: 'invalid', reason: 'has no id' }],
]
for (const [title, text, expected] of kinds)
  test(`reads ${title}`, () => {
    expect(readMessage(Buffer.from(text))).toMatchObject(expected)
    expect(parsing.readMessage(Buffer.from(text))).toMatchObject(expected)
  })

for (const [title, wire] of wires)
  test(`[B6] an id beyond what a double holds is given back digit by digit, ${title}`, () => {
    for (const id of ['9007199254740993', '-12345678901234567890', '100000000000000000000000']) {
      const asked = wire.readMessage(Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`))
      const answer = wire.readMessage(Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}'))
      if (asked.kind !== 'request' || answer.kind !== 'result') throw new Error(asked.kind)
      const sent = Buffer.concat(wire.withId(answer, asked.id)).toString()
      expect(sent).toMatch(new RegExp(`"id":${id}[,}]`))
    }
    const endless = wire.readMessage(Buffer.from('{"jsonrpc":"2.0","id":1e999,"method":"ping"}'))
    expect(endless).toMatchObject({ kind: 'invalid', reason: expect.stringContaining('no number') })
  })

test('BUSBAR_WIRE=parse reads everything and builds answers anew', () => {
  const bytes = Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"n":1.0}}')
  const read = parsing.readMessage(bytes)
  if (read.kind !== 'result') throw new Error(read.kind)
  expect(read.splice).toBeUndefined()
  expect(Buffer.concat(parsing.withId(read, 2)).toString()).toBe('{"jsonrpc":"2.0","id":2,"result":{"n":1}}')
  expect(readMessage(bytes)).toHaveProperty('splice')
})

test('refuses what is not UTF-8', () => {
  const bytes = Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"a":"\xff"}}', 'latin1')
  expect(readMessage(bytes)).toEqual({ kind: 'invalid', reason: 'is not valid UTF-8' })
})

const hidden: [string, string][] = [
  ['a fault in the syntax', '{"jsonrpc":"2.0","id":1,"result":{"a":[}}'],
  ['a second result', '{"jsonrpc":"2.0","id":1,"result":{"a":1},"result":{"b":{}}}'],
  ['a second id', '{"jsonrpc":"2.0","id":1,"result":{"a":1},"id":2,"x":{}}'],
  ['an error', '{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":{}}'],
  ['a request', '{"jsonrpc":"2.0","id":1,"result":{"a":1},"method":"m","params":{}}'],
  ['another version', '{"result":{"a":1},"jsonrpc":"1.0","x":{},"jsonrpc":"2.0","id":1}'],
]
for (const [title, text] of hidden)
  test(`whoever looks into an answer finds ${title} that its ends do not show`, () => {
    const message = readMessage(Buffer.from(text))
    expect(message).toMatchObject({ kind: 'result', id: 1 })
    expect(looked(message as Message)).toBe('broken')
    expect(() => memberValue(message as Message, 'result')).toThrow(/^the answer /)
  })

test('[B6] what is told to be whole or plain at little cost is so for whoever reads all of it', () => {
  let whole = 0
  let answers = 0
  const usual = fc
    .tuple(
      fc.nat(),
      objectJson,
      // Often enough nothing, so that enough of few tries are whole.
      fc.oneof(
        { weight: 2, arbitrary: fc.constant('') },
        { weight: 1, arbitrary: fc.constantFrom(',"id":8', ',"result":{}', ',"error":{}', ',"a":{}', ',') },
      ),
    )
    .map(([id, result, more]) => `{"jsonrpc":"2.0","id":${id},"result":${result}${more}}`)
  const last = fc.tuple(fc.nat(), objectJson).map(([id, it]) => `{"result":${it},"jsonrpc":"2.0","id":${id}}`)
  // With and without what a text must not hold, short and long.
  const said = fc.oneof(
    fc.string({ unit: 'binary' }).map((it) => JSON.stringify(it).slice(1, -1)),
    fc.string({ unit: fc.constantFrom('"', '\\', 'n', 'u0041', 'q', '\t', '}', ']', 'é') }),
  )
  const text = fc
    .tuple(said, fc.constantFrom('', 'x'.repeat(2000)), fc.constantFrom('', ',"resultType":"complete"', ','))
    .map(([it, long, more]) => `{"content":[{"type":"text","text":"${long}${it}"}]${more}}`)
    .map((it) => `{"jsonrpc":"2.0","id":1,"result":${it}}`)
  fc.assert(
    fc.property(fc.oneof(messageText, usual, last, text), (text) => {
      const bytes = Buffer.from(text)
      const message = readMessage(bytes)
      // Out of the middle of what came with it, the same.
      const chunk = Buffer.concat([Buffer.from('{}\n'), bytes, Buffer.from('\n{}\n')])
      const answer = readAnswer(bytes.toString('latin1'), chunk, 3)
      if (message.kind !== 'result' || !isWhole(message)) {
        expect(answer).toBeUndefined()
        return
      }
      if (answer) {
        answers += 1
        expect([answer.id, isWhole(answer), answer.bytes.toString()]).toEqual([1, true, text])
        expect(Buffer.concat(withId(answer, 9)).toString()).toBe(Buffer.concat(withId(message, 9)).toString())
        expect(memberValue(answer, 'result')).toEqual(JSON.parse(text).result)
      }
      whole += 1
      expect(message.members.map(({ key }) => key).sort()).toEqual(['id', 'jsonrpc', 'result'])
      // Whoever asks gets one of their own.
      const given = [memberValue(message, 'result'), memberValue(message, 'result')]
      expect(given).toEqual([JSON.parse(text).result, JSON.parse(text).result])
      expect(given[0]).not.toBe(given[1])
    }),
    { numRuns: tried(3000) },
  )
  expect(whole).toBeGreaterThan(tried(100))
  expect(answers).toBeGreaterThan(tried(50))
})

/** Each with whether it is plain, and whether it is whole. */
const looks: [string, string, boolean, boolean][] = [
  [
    'a usual answer',
    '"result":{"content":[{"type":"text","text":"{\\"id\\":1,\\"result\\":2}"}]}',
    true,
    true,
  ],
  ['one that says that a tool failed', '"result":{"isError":true}', false, false],
  ['one that asks first', '"result":{"resultType":"input_required"}', false, false],
  ['one that may say so with escapes', '"result":{"resultType":"\\u0069nput_required"}', false, false],
  ['a result twice', '"result":{},"result":{"a":{}}', true, false],
  ['another id', '"result":{},"id":{"a":{}}', true, false],
  ['a method, too', '"result":{},"method":{"a":{}}', true, false],
  ['an id in its data', '"result":{"structuredContent":{"id":1}}', true, true],
  ['something broken', '"result":{"a":tru}', true, false],
  ['something nested deeply', `"result":{"a":${'['.repeat(MAX_DEPTH)}${']'.repeat(MAX_DEPTH)}}`, true, false],
]
for (const [title, members, plain, whole] of looks)
  test(`[B6] ${title} is ${plain ? '' : 'not '}plain and ${whole ? '' : 'not '}surely whole`, () => {
    const message = readMessage(Buffer.from(`{"jsonrpc":"2.0","id":7,${members}}`)) as Message
    expect(['isPlain' in message && message.isPlain === true, isWhole(message)]).toEqual([plain, whole])
  })

test('gives members as bytes and as values', () => {
  const message = readMessage(Buffer.from('{"jsonrpc":"2.0","method":"m","params":{"a": [1.0]}}')) as Message
  expect(slice(message, 'params')?.toString()).toBe('{"a": [1.0]}')
  expect(memberValue(message, 'params')).toEqual({ a: [1] })
  expect(slice(message, 'result')).toBeUndefined()
  expect(memberValue(message, 'result')).toBeUndefined()
  expect(find(message.members, 'toString')).toBeUndefined()
})

const errors: [string, object][] = [
  ['{"code":-32601,"message":"no","data":[1]}', { code: -32601, message: 'no', data: [1] }],
  ['{"code":"x"}', { code: -32603, message: 'the server gave no reason' }],
  ['{"message":7,"data":null}', { code: -32603, message: 'the server gave no reason', data: null }],
  ['"broken"', { code: -32603, message: 'broken' }],
  ['null', { code: -32603, message: 'null' }],
]
for (const [text, expected] of errors)
  test(`makes ${text} a whole error`, () => {
    const message = readMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"error":${text}}`))
    expect(message.kind === 'error' && errorOf(message)).toEqual(expected)
  })

test('never throws, whatever comes in', () => {
  let frames = 0
  const noise = fc.uint8Array({ minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(messageText, mutation, noise, cuts, (text, change, bytes, at) => {
      const sound = Buffer.from(text)
      const broken = Buffer.from(mutated(text, change))
      for (let from = 0; from < sound.length; from++) {
        const spoilt = Buffer.from(sound)
        spoilt.set(bytes.subarray(0, sound.length - from), from)
        for (const frame of [spoilt, sound.subarray(0, from), broken.subarray(from)]) {
          readMessage(frame)
          idOfCut(frame, sound)
          frames += 1
        }
      }
      for (const piece of pieces(broken, at)) idOfCut(piece, piece)
    }),
    { numRuns: tried(600) },
  )
  expect(frames).toBeGreaterThan(tried(100_000))
})
