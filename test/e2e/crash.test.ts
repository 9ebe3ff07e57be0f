// A process killed while it writes leaves the old file or the new one, and nothing that stops the next.

import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { Sandbox } from './cli.ts'

const START = `# kept\nservers:\n  first: { command: x } # one\n${Array.from({ length: 200 }, (_, index) => `  # line ${index}`).join('\n')}\n`

/** Adds a server and kills the process after `delay`; true when it had finished by itself. */
async function addAndKill(sandbox: Sandbox, name: string, delay: number): Promise<boolean> {
  const child = sandbox.start(['add', name, '--', 'npx', name])
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  await Promise.race([ended, sleep(delay)])
  child.kill('SIGKILL')
  return (await ended) === 0
}

test('kill -9 during 200 writes leaves old or new, never a mix', { timeout: 240_000 }, async () => {
  const lanes = Array.from({ length: 2 }, () => new Sandbox())
  let finished = 0
  let killed = 0
  await Promise.all(
    lanes.map(async (sandbox) => {
      sandbox.write('busbar.yaml', START)
      const done: string[] = []
      // Around the moment of the write on this machine, found by following how the last tries ended.
      const started = performance.now()
      await sandbox.run(['add', 'timed', '--', 'npx', 'timed'])
      let moment = performance.now() - started
      for (let index = 0; index < 100; index++) {
        const name = `s${index}`
        const inTime = await addAndKill(sandbox, name, moment * (0.6 + Math.random() * 0.8))
        moment *= inTime ? 0.95 : 1.05
        if (inTime) {
          done.push(name)
          finished++
        } else killed++
        const text = sandbox.read('busbar.yaml')
        const parsed = parseDocument(text)
        expect(parsed.errors).toEqual([])
        const names = Object.keys(parsed.toJS().servers)
        // Whatever was reported as done is there; whatever is there is whole.
        expect(names).toEqual(expect.arrayContaining(['first', ...done]))
        for (const it of names) expect(parsed.toJS().servers[it].command).toBe(it === 'first' ? 'x' : 'npx')
        for (const line of START.split('\n')) expect(text).toContain(line)
      }
      const last = await sandbox.run(['add', 'last', '--', 'npx', 'last'])
      expect(last.stderr + last.code).toMatch(/0$/)
      expect(readdirSync(sandbox.project).filter((it) => it.includes('busbar-'))).toEqual([])
    }),
  )
  // The delays are meant to hit both sides of the write; a run that never did would show nothing.
  expect(finished).toBeGreaterThan(10)
  expect(killed).toBeGreaterThan(10)
})
