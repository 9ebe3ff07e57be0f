// The benchmark itself is no test; that it runs and says what it promises is one.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const CALLS = new URL('../../bench/calls.mjs', import.meta.url).pathname

test('[C9] the benchmark shows what connecting and calling cost beside the floor', async () => {
  const run = await promisify(execFile)(process.execPath, [CALLS, '1'], {
    env: { ...process.env, CALLS: '500' },
  })
  const ratios = [...run.stdout.matchAll(/^(library|gateway), .* ratio (\d+\.\d\d)$/gm)]
  expect(ratios).toHaveLength(8)
  expect(run.stdout).toMatch(/first answer[\s\S]*library, stdio +floor +\d+ {2}busbar +\d+/)
})
