// The examples are run as a person would run them.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const TOUR = new URL('../../examples/team/tour.mjs', import.meta.url).pathname

test('the tour runs to its end: lists, trusts, starts, calls, serves, edits and complains', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [TOUR], {
    env: { ...process.env, NO_COLOR: '1' },
  })
  expect(stdout).toMatch(/notes +stdio +connected +notes 1\.0\.0/)
  expect(stdout).toContain('1. It works')
  expect(stdout).toContain('1. From a client')
  expect(stdout).toContain('$ busbar list')
  expect(stdout).toContain('docs is skipped: DOCS_TOKEN is not set')
  expect(stdout).toContain('did you mean "docs"?')
  expect(stdout).toContain('did you mean "description"?')
  expect(stdout).toContain('Use it for real:')
})
