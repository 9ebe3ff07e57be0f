import fc from 'fast-check'
import { expect, test } from 'vitest'
import { column, cut, width } from './display-width.ts'
import { type TableRow, tableLines } from './live-table.ts'
import { Output } from './output.ts'

const plainOutput = new Output({ json: false, color: false })
const colored = new Output({ json: false, color: true })

const row = (name: string, more: Partial<TableRow> = {}): TableRow => ({
  name,
  status: { status: 'connected', state: 'connected' },
  tools: 3,
  calls: 0,
  errors: 0,
  inFlight: 0,
  ...more,
})
const failed = (error: string, hint?: string): TableRow['status'] => ({
  status: 'failed',
  state: 'waiting',
  error,
  ...(hint === undefined ? {} : { hint }),
})
const texts = (rows: TableRow[], columns: number, height = 40) =>
  tableLines(rows, { columns, rows: height }, plainOutput).map(({ text }) => text)

test('a server has its state, with the reason and what to do, and its numbers', () => {
  const noon = new Date()
  noon.setHours(12, 4, 5)
  const lines = texts(
    [
      row('github', { calls: 12, errors: 2, inFlight: 1, lastUsed: noon.getTime() }),
      row('docs', { status: failed('docs ended with code 3', 'run: busbar doctor'), tools: 0 }),
      row('notes', { status: { status: 'pending', state: 'starting' }, lastUsed: 0 }),
      row('shell', { status: { status: 'connected', state: 'connected', instances: 3 } }),
    ],
    120,
  )
  expect(lines).toEqual([
    '',
    'SERVER  TOOLS    CALLS  ERRORS  IN FLIGHT   LAST USED  STATE',
    'github      3       12       2          1    12:04:05  connected',
    'docs        0        0       0          -           -  failed: ended with code 3 (run: busbar doctor)',
    'notes       3        0       0          -  1970-01-01  starting',
    'shell       3        0       0          -           -  connected, 3 instances',
  ])
})

test('where it is narrow columns are left out, the state last', () => {
  const heading = (columns: number) =>
    texts([row('github')], columns)[1]
      ?.trim()
      .split(/ {2,}/)
  expect(heading(80)).toEqual(['SERVER', 'TOOLS', 'CALLS', 'ERRORS', 'IN FLIGHT', 'LAST USED', 'STATE'])
  expect(heading(60)).toEqual(['SERVER', 'TOOLS', 'CALLS', 'ERRORS', 'IN FLIGHT', 'STATE'])
  expect(heading(40)).toEqual(['SERVER', 'CALLS', 'ERRORS', 'STATE'])
  expect(heading(34)).toEqual(['SERVER', 'ERRORS', 'STATE'])
  expect(heading(30)).toEqual(['SERVER', 'STATE'])
})

test('with more servers than there is room for, those that want attention are shown', () => {
  const many = Array.from({ length: 50 }, (_, index) => row(`server-${index}`))
  const lines = texts(
    [...many, row('broken', { status: failed('gone') }), row('busy', { inFlight: 2 })],
    80,
    12,
  )
  expect(lines).toHaveLength(9)
  expect(lines.slice(2, 4).map((line) => line.split(' ')[0])).toEqual(['broken', 'busy'])
  expect(lines.at(-1)).toBe('… and 46 more: busbar list')
})

test('no line is wider than the terminal, and nothing of a server acts on it', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 60 })
  const hostile = fc.oneof(
    text,
    fc.constantFrom('\u001b[2J\u001b[31m', '\u202eevil', 'a\nb\r\u0007', '日本語', '🚌🚌'),
  )
  fc.assert(
    fc.property(
      fc.array(fc.tuple(hostile, hostile, hostile), { maxLength: 6 }),
      fc.integer({ min: 1, max: 150 }),
      fc.integer({ min: 1, max: 40 }),
      (servers, columns, height) => {
        const rows = servers.map(([name, error, hint]) => row(name, { status: failed(error, hint) }))
        for (const out of [plainOutput, colored])
          for (const line of tableLines(rows, { columns, rows: height }, out)) {
            // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours are all that may be there
            const bare = line.text.replace(/\u001b\[(?:2|31|22|39)m/g, '')
            expect(bare).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
            expect(width(bare)).toBe(line.width)
            expect(line.width).toBeLessThanOrEqual(Math.max(1, columns - 1))
          }
      },
    ),
  )
})

test('texts are cut by the columns they take', () => {
  expect([width('abc'), width('日本'), width('🚌'), width('e\u0301')]).toEqual([3, 4, 2, 1])
  expect([cut('abcdef', 4), cut('日本語', 5), cut('日本語', 4), cut('abc', 0)]).toEqual([
    'abc…',
    '日本…',
    '日…',
    '',
  ])
  expect([column('ab', 4), column('ab', 4, 'right'), column('日本語', 4)]).toEqual(['ab  ', '  ab', '日… '])
})
