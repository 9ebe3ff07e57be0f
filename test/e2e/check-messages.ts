// What `busbar config check` says of a file.

import { expect, test } from 'vitest'
import { Sandbox } from './cli.ts'

/** A title, the text of a file with a mistake in it, and what is said of that. */
type Mistake = [title: string, text: string, expected: RegExp]

export function testMessages(mistakes: readonly Mistake[]): void {
  for (const [title, text, expected] of mistakes)
    test(`[A8] ${title} is reported with place, value and what was expected`, async () => {
      const sandbox = new Sandbox()
      sandbox.write('busbar.yaml', text)
      const result = await sandbox.run(['config', 'check'])
      expect(result.code).toBe(1)
      expect(result.stderr).toMatch(expected)
    })
}
