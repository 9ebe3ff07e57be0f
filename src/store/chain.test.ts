// Seals are what they claim to be, and no two rows share one.

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sha256 } from '../base/digest.ts'
import { Chain, type ChainRow } from './chain.ts'

const ROW: ChainRow = {
  seq: 1,
  id: 'i',
  agent: 'a',
  server: 's',
  tool: 't',
  surface: 'cli',
  conversation: null,
  startedAt: 1,
  duration: 1,
  outcome: 'ok',
  code: null,
  error: null,
  pattern: null,
  energy: null,
  requestBytes: 1,
  resultBytes: 1,
  arguments: null,
  result: null,
}

test('a seal is SHA-256 over the key and what is sealed, whatever the key', () => {
  for (const key of ['', 'short', 'k'.repeat(1000), new Uint8Array([0, 255, 128])])
    expect(new Chain(key).seal('head', { seq: 1, count: 2, hash: 'é' })).toBe(
      createHash('sha256')
        .update(`${sha256(key)}head\x001\x002\x00é\x00`)
        .digest('base64'),
    )
})

test('rows that differ anywhere have different seals', () => {
  const chain = new Chain('k')
  const text = fc.option(
    fc.constantFrom('', '-', '1', '1:', ';', '0:', '1:a', ':', 'é', '\u0001', '\u0001\u0001'),
  )
  const number = fc.constantFrom(0, 1, 11, -1, 0.5, 1e21)
  const change = fc.record<Partial<ChainRow>>(
    {
      seq: number,
      agent: text,
      conversation: text,
      startedAt: number,
      duration: number,
      code: text,
      error: text,
      pattern: text,
      energy: fc.option(number),
      requestBytes: number,
      resultBytes: number,
      arguments: text,
      result: text,
    },
    { requiredKeys: [] },
  )
  const seals = new Map<string, string>()
  fc.assert(
    fc.property(fc.constantFrom('', '1', '-'), change, (previous, changed) => {
      const row = { ...ROW, ...changed }
      const seal = chain.link(previous, row)
      const content = JSON.stringify([previous, row])
      expect(seals.get(seal) ?? content).toBe(content)
      seals.set(seal, content)
    }),
    { numRuns: 3000 },
  )
  expect(seals.size).toBe(new Set(seals.values()).size)
})
