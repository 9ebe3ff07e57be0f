// Seals are what they claim to be, and no two rows share one.

import { createHmac } from 'node:crypto'
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

test('a seal is an HMAC-SHA-256, whatever the key', () => {
  for (const key of ['', 'short', 'k'.repeat(1000), new Uint8Array([0, 255, 128])])
    expect(new Chain(key).seal('head', { seq: 1, count: 2, hash: 'é\ud800' })).toBe(
      createHmac('sha256', sha256(key)).update('head 1 2 é\ufffd').digest('base64'),
    )
})

test('rows that differ anywhere have different seals', () => {
  const chain = new Chain('k')
  const text = fc.option(fc.constantFrom('', '-', '1', '1:', ';', '0:', '1:a', ':', 'é'))
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
