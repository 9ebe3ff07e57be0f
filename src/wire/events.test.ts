import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EVENT_COMMENT, EVENT_END, EventReader, eventStart } from './events.ts'
import { cuts, pieces } from './testing.ts'

type Seen = { event: string; data: string } | { size: number; head: string; tail: string }
interface Outcome {
  readonly seen: Seen[]
  readonly lastId: string | undefined
  readonly retry: number | undefined
}

function read(chunks: readonly Buffer[], limit = 1_000_000): Outcome {
  const seen: Seen[] = []
  const reader = new EventReader(limit, {
    event: ({ event, data }) => seen.push({ event, data: data.toString() }),
    oversized: (size, head, tail) => seen.push({ size, head: head.toString(), tail: tail.toString() }),
  })
  for (const chunk of chunks) reader.push(chunk)
  return { seen, lastId: reader.lastId, retry: reader.retry }
}

function readText(text: string, limit?: number): Outcome {
  return read([Buffer.from(text)], limit)
}

/** The standard's own steps, on a whole stream: https://html.spec.whatwg.org/multipage/server-sent-events.html */
function reference(stream: string): Outcome {
  const seen: Seen[] = []
  let data = ''
  let event = ''
  let id: string | undefined
  let lastId: string | undefined
  let retry: number | undefined
  const lines = stream.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)
  for (const line of lines.slice(0, -1)) {
    if (line === '') {
      lastId = id
      if (data !== '') seen.push({ event: event || 'message', data: data.slice(0, -1) })
      data = event = ''
      continue
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?([\s\S]*))?$/.exec(line) ?? []
    if (name === 'data') data += `${value}\n`
    else if (name === 'event') event = value
    else if (name === 'id' && !value.includes('\0')) id = value
    else if (name === 'retry' && /^[0-9]+$/.test(value)) retry = Number(value)
  }
  return { seen, lastId, retry }
}

const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
const field = fc.constantFrom(
  ...[
    'data: {"a":1}',
    'data:x',
    'data:  y',
    'data',
    'data:',
    'data: é漢😀',
    'data: a:b',
    'dat: no',
    'Data: no',
  ],
  ...[
    'event: ping',
    'event',
    'id: 7',
    'id',
    'id: a\0b',
    'id:é',
    'retry: 30',
    'retry: x1',
    'retry: -1',
    'retry',
  ],
  ...[
    ': comment',
    ':',
    '',
    '',
    '',
    '',
    ' data: no',
    '\ufeffdata: later',
    'x'.repeat(70),
    `${'y'.repeat(70)}: z`,
  ],
)
const stream = fc
  .tuple(
    fc.constantFrom('', '', '\ufeff', '\ufeff\ufeff'),
    fc.array(fc.tuple(field, lineEnd), { maxLength: 14 }),
    field,
  )
  .map(([mark, lines, rest]) => mark + lines.map((pair) => pair.join('')).join('') + rest)

test('[B1] reads what the standard says, however the stream is cut into chunks', () => {
  fc.assert(
    fc.property(stream, cuts, (text, at) => {
      expect(read(pieces(Buffer.from(text), at))).toEqual(reference(text))
    }),
    { numRuns: 3000 },
  )
})

test('reads the same with chunks of a single byte', () => {
  fc.assert(
    fc.property(stream, (text) => {
      const bytes = Buffer.from(text)
      expect(read([...bytes].map((byte) => Buffer.from([byte])))).toEqual(reference(text))
    }),
    { numRuns: 300 },
  )
})

const cases: [string, string, Seen[]][] = [
  ['joins lines of data', 'data: a\ndata:b\ndata\n\n', [{ event: 'message', data: 'a\nb\n' }]],
  [
    'takes any line end',
    'data: a\r\rdata: b\r\n\r\ndata: c\n\n',
    ['a', 'b', 'c'].map((data) => ({ event: 'message', data })),
  ],
  [
    'knows an event by its name, once',
    'event: x\ndata: a\n\ndata: b\n\n',
    [
      { event: 'x', data: 'a' },
      { event: 'message', data: 'b' },
    ],
  ],
  ['skips comments', ': hi\n\n:data: a\n\n', []],
  ['skips an event without data', 'event: x\nid: 1\n\n', []],
  ['gives an event with empty data', 'data:\n\n', [{ event: 'message', data: '' }]],
  ['skips a byte order mark', '\ufeffdata: a\n\n', [{ event: 'message', data: 'a' }]],
  ['throws half an event away', 'data: a\n', []],
]
for (const [title, text, expected] of cases)
  test(title, () => {
    expect(readText(text).seen).toEqual(expected)
  })

test('knows the id of the last whole event only', () => {
  expect(readText('id: 1\ndata: a\n\nid: 2\ndata: b\n').lastId).toBe('1')
  expect(readText('id: 1\n\n').lastId).toBe('1')
  expect(readText('id: 1\ndata: a\n\ndata: b\n\n').lastId).toBe('1')
  expect(readText('id: 1\n\nid\n\n').lastId).toBe('')
  expect(readText('id: 1\n\nid: 2\0\n\n').lastId).toBe('1')
  expect(readText('data: a\n\n').lastId).toBeUndefined()
})

test('waits as long as the server says, in digits', () => {
  expect(readText('retry: 1500\n').retry).toBe(1500)
  for (const text of ['1.5', '-1', '1e3', '', ' 1', '１'])
    expect(readText(`retry: ${text}\n`).retry).toBeUndefined()
})

const digits = Array.from({ length: 4000 }, (_, index) => String(index).padStart(5, '0')).join('')

test('throws an event over the limit away, all but its two ends, and goes on', () => {
  const bytes = Buffer.from(`data: before\n\nid: 5\ndata: ${digits}\n\ndata: after\n\n`)
  for (const size of [1, 5, 1000, 5000, bytes.length]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    )
    const { seen, lastId } = read(chunks, 10_000)
    expect(seen.map((it) => ('size' in it ? it.size : it.data))).toEqual(['before', digits.length, 'after'])
    const over = seen[1] as { head: string; tail: string }
    expect(over.tail).toBe(digits.slice(-4096))
    expect(over.head).toBe(digits.slice(0, 4096 - 'data: '.length))
    expect(lastId).toBe('5')
  }
})

test('an event over the limit in many lines is thrown away as one', () => {
  const whole = digits.replaceAll(/(.{100})/g, '$1\n').slice(0, -1)
  const text = `data: ${whole.replaceAll('\n', '\ndata: ')}\nid: 9\n\n`
  for (const limit of [50, 150, 5000, whole.length]) {
    const { seen, lastId } = readText(`${text}data: after\n\n`, limit)
    expect(seen).toEqual([
      { size: whole.length, head: whole.slice(0, 4096), tail: whole.slice(-4096) },
      { event: 'message', data: 'after' },
    ])
    expect(lastId).toBe('9')
  }
})

test('many lines with hardly anything in them are over the limit, and what follows is read', () => {
  const { seen } = readText(`${'data: a\n'.repeat(3)}\ndata: b\n\n`, 100)
  expect(seen).toEqual([
    { size: 5, head: 'a\na\na', tail: 'a\na\na' },
    { event: 'message', data: 'b' },
  ])
})

test('an event is over the limit or not, however it is cut into chunks', () => {
  const lines = fc.array(
    fc.constantFrom(
      'data: abc',
      'data: é',
      'data:',
      'event: x',
      'id: 1',
      ': c',
      '',
      '',
      `data: ${'z'.repeat(30)}`,
    ),
    { maxLength: 10 },
  )
  fc.assert(
    fc.property(lines, cuts, fc.integer({ min: 5, max: 120 }), (parts, at, limit) => {
      const bytes = Buffer.from(`${parts.join('\n')}\n\ndata: q\n\n`)
      const cut = read(pieces(bytes, at), limit)
      expect(cut).toEqual(read([bytes], limit))
      // What is not over the limit is what the standard says, and one that is does not take others with it.
      const expected = reference(bytes.toString())
      expect(cut.seen.length).toBe(expected.seen.length)
      for (const [index, it] of cut.seen.entries()) {
        const whole = expected.seen[index] as { event: string; data: string }
        if ('data' in it) expect(it).toEqual(whole)
        else
          expect([it.size, it.head, it.tail]).toEqual([Buffer.byteLength(whole.data), whole.data, whole.data])
      }
    }),
    { numRuns: 1500 },
  )
})

test('says when the event under way is over the limit', () => {
  const reader = new EventReader(10, { event: () => undefined, oversized: () => undefined })
  reader.push(Buffer.from('data: a'))
  expect(reader.over).toBe(false)
  reader.push(Buffer.from('bcdefgh'))
  expect(reader.over).toBe(true)
  reader.push(Buffer.from('\n'))
  expect(reader.over).toBe(true)
  reader.push(Buffer.from('\n'))
  expect(reader.over).toBe(false)
})

test('a long comment is no event that is too large', () => {
  expect(readText(`: ${'c'.repeat(9000)}\ndata: a\n\n`, 100).seen).toEqual([{ event: 'message', data: 'a' }])
})

test('reads what it writes', () => {
  const message = '{"jsonrpc":"2.0","id":1,"result":{}}'
  const text = (start: Buffer) => `${EVENT_COMMENT}${start}${message}${EVENT_END}`
  expect(readText(text(eventStart()))).toEqual({
    seen: [{ event: 'message', data: message }],
    lastId: undefined,
    retry: undefined,
  })
  expect(readText(text(eventStart('a-1')))).toMatchObject({
    seen: [{ event: 'message', data: message }],
    lastId: 'a-1',
  })
})
