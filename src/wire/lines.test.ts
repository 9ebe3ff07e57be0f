import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineReader } from './lines.ts'
import { cuts, pieces } from './testing.ts'

type Seen = { line: string } | { size: number; head: string; tail: string }

/** `takes`: which lines are taken as letters; none where it is left out. */
function read(
  limit: number,
  chunks: readonly Buffer[],
  takes?: (line: string) => boolean,
): { seen: Seen[]; rest: number } {
  const seen: Seen[] = []
  const letters = (line: string, chunk: Buffer, start: number): boolean => {
    const text = Buffer.from(line, 'latin1').toString()
    if (takes?.(text) !== true) return false
    expect(chunk.toString('utf8', start, start + line.length)).toBe(text)
    seen.push({ line: text })
    return true
  }
  const reader = new LineReader(limit, {
    ...(takes ? { letters } : {}),
    line: (bytes) => seen.push({ line: bytes.toString() }),
    oversized: (size, head, tail) => seen.push({ size, head: head.toString(), tail: tail.toString() }),
  })
  for (const chunk of chunks) reader.push(chunk)
  return { seen, rest: reader.rest }
}

test('[B1] reads the same lines however they are cut into chunks', () => {
  const line = fc.string({ unit: fc.constantFrom('a', '{', '"', ' ', '\r', 'é', '漢'), maxLength: 12 })
  const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\n', '\r\n')), { maxLength: 6 })
  fc.assert(
    fc.property(lines, line, cuts, fc.integer({ min: 1, max: 14 }), (ended, rest, at, limit) => {
      const bytes = Buffer.from(ended.map((pair) => pair.join('')).join('') + rest)
      const expected = ended.flatMap(([text, end]): Seen[] => {
        const all = text + end.slice(0, -1)
        const size = Buffer.byteLength(all)
        if (size > limit) return [{ size, head: all, tail: all }]
        const kept = all.endsWith('\r') ? all.slice(0, -1) : all
        return kept === '' ? [] : [{ line: kept }]
      })
      const all = { seen: expected, rest: Buffer.byteLength(rest) }
      expect(read(limit, pieces(bytes, at))).toEqual(all)
      // Nor does it matter which of them somebody takes as letters.
      expect(read(limit, pieces(bytes, at), (text) => /^[^\r]*[a漢][^\r]*$/.test(text))).toEqual(all)
    }),
    { numRuns: 1500 },
  )
})

test('[B1] only short lines of short chunks are offered as letters, and none of what is not UTF-8', () => {
  const offered = (chunk: Buffer): number => {
    let count = 0
    read(1e6, [chunk], () => {
      count += 1
      return true
    })
    return count
  }
  expect(offered(Buffer.from('a\n漢\n'))).toBe(2)
  expect(offered(Buffer.from(`a\n${'x'.repeat(1025)}\nb\n`))).toBe(1)
  expect(offered(Buffer.from(`a\n${'x'.repeat(16 * 1024)}\n`))).toBe(0)
  expect(offered(Buffer.from([0x61, 0x0a, 0xff, 0x0a]))).toBe(0)
})

test('skips empty lines and takes line ends as Windows writes them, also cut in two', () => {
  const chunks = ['\n\r\n{"a":1}\r', '\n\r', '\n{"b":2}\n\n{"c":', '3}', '\n{"d"'].map((text) =>
    Buffer.from(text),
  )
  expect(read(100, chunks)).toEqual({
    seen: [{ line: '{"a":1}' }, { line: '{"b":2}' }, { line: '{"c":3}' }],
    rest: 4,
  })
})

test('throws a line over the limit away, once, but for 4 KiB of either end, and goes on', () => {
  const long = Array.from({ length: 5000 }, (_, index) => String(index).padStart(5, '0')).join('')
  const bytes = Buffer.from(`before\n${long}\nafter\n`)
  for (const size of [1, 7, 100, 4096, 5000, bytes.length]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    )
    for (const limit of [10, 4096, 10_000, long.length - 1])
      expect(read(limit, chunks).seen).toEqual([
        { line: 'before' },
        { size: long.length, head: long.slice(0, 4096), tail: long.slice(-4096) },
        { line: 'after' },
      ])
    expect(read(long.length, chunks).seen[1]).toEqual({ line: long })
  }
})

test('a line far over the limit does not stay in memory', () => {
  let size = 0
  const reader = new LineReader(1024 * 1024, {
    line: () => undefined,
    oversized: (bytes, head, tail) => {
      size = bytes
      // Copies of their own, and not views on a chunk.
      expect([head.buffer.byteLength, tail.buffer.byteLength].every((length) => length <= 8192)).toBe(true)
    },
  })
  for (let index = 0; index < 1024; index++) reader.push(Buffer.alloc(64 * 1024, 0x61))
  expect(reader.rest).toBe(64 * 1024 * 1024)
  reader.push(Buffer.from('\n'))
  expect(size).toBe(64 * 1024 * 1024)
  expect(reader.rest).toBe(0)
})

test('what comes last is a line, also without its end; nothing is none', () => {
  const seen: string[] = []
  const reader = new LineReader(8, {
    line: (bytes) => seen.push(bytes.toString()),
    oversized: (size) => seen.push(`${size} bytes`),
  })
  reader.push(Buffer.from('{"a":1}\n{"b"'))
  reader.push(Buffer.from(':2}'))
  reader.end()
  reader.end()
  reader.push(Buffer.from('{"c":33333}'))
  reader.end()
  reader.push(Buffer.from('\n'))
  reader.end()
  expect(seen).toEqual(['{"a":1}', '{"b":2}', '11 bytes'])
})
