import { expect, test } from 'vitest'
import type { Remembered } from './memory.ts'
import { OwnSecrets } from './own-secrets.ts'
import { ToolList } from './tool-list.ts'

const TOOL = { name: 'echo', inputSchema: { type: 'object' } }

/** What is remembered of a server that spoke the older era a minute ago. */
function memory() {
  const kept: { of: Remembered } = {
    of: {
      agreement: {
        era: 'legacy',
        version: '2025-11-25',
        serverInfo: undefined,
        capabilities: {},
        instructions: undefined,
      },
      definitions: { tools: [TOOL] },
      at: Date.now() - 60_000,
    },
  }
  const list = () =>
    new ToolList({
      plan: {
        name: 'files',
        identity: 'same',
        secrets: new OwnSecrets(() => ({ all: [], sure: [] })),
        deadline: 1_000,
      },
      memory: {
        read: () => kept.of,
        write: (_server, _identity, remembered) => {
          kept.of = remembered
        },
      },
      complain: () => undefined,
    })
  return { kept, list }
}

test('[C4] who does not start as expected is asked anew, in this run and the next; its tools stay known', () => {
  const { list } = memory()
  const first = list()
  expect(first.expected).toBe('legacy')
  first.doubt()
  for (const one of [first, list()])
    expect([one.expected, one.all, one.remembered?.agreement.era]).toEqual([undefined, [TOOL], 'legacy'])
})

test('what is doubted already is not written down again', () => {
  const { kept, list } = memory()
  const one = list()
  one.doubt()
  const { of } = kept
  one.doubt()
  expect(kept.of).toBe(of)
})
