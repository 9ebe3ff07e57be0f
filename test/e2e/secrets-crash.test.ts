// Many processes at the same secrets, and processes killed in the middle of a change.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { placesOf } from '../../src/base/places.ts'
import { openSecrets } from '../../src/secrets/secrets.ts'
import { buildChild } from './child.ts'

const KILLS = 60

function home(): { root: string; env: Record<string, string> } {
  const root = mkdtempSync(join(tmpdir(), 'busbar-secrets-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return { root, env: { HOME: root, BUSBAR_HOME: join(root, 'busbar') } }
}

test('[C11] five processes that change one secret lose no change', async () => {
  const { root, env } = home()
  const child = await buildChild(root, 'secrets-child.ts')
  const codes = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const running = spawn(process.execPath, [child, 'count', '20'], {
        env,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      onTestFinished(() => void running.kill('SIGKILL'))
      return (await once(running, 'exit'))[0]
    }),
  )
  expect(codes).toEqual([0, 0, 0, 0, 0])
  const secrets = await openSecrets(placesOf(env), env)
  expect(secrets.get('server:shared', 'number')?.value).toBe('100')
})

test('[C11] whoever is killed while keeping a secret or moving the key, nothing that was kept is lost', async () => {
  const { root, env } = home()
  const child = await buildChild(root, 'secrets-child.ts')
  const lanes = ['one', 'two']
  const said = (lane: string) => Number(readFileSync(join(root, lane), 'utf8').trim().split('\n').at(-1))
  await Promise.all(
    lanes.map(async (lane) => {
      const file = openSync(join(root, lane), 'a')
      try {
        for (let index = 0; index < KILLS / lanes.length; index++) {
          const running = spawn(process.execPath, [child, 'churn', lane], {
            env,
            stdio: ['ignore', 'pipe', 'inherit', file],
          })
          const ended = once(running, 'exit')
          onTestFinished(() => void running.kill('SIGKILL'))
          if (running.stdout !== null) await Promise.race([once(running.stdout, 'data'), ended])
          // Any moment will do: what it was doing is what is tried.
          await sleep(Math.random() * 60)
          running.kill('SIGKILL')
          // One that ended by itself would have failed.
          expect((await ended)[1]).toBe('SIGKILL')
        }
      } finally {
        closeSync(file)
      }
    }),
  )
  const places = placesOf(env)
  const secrets = await openSecrets(places, env)
  expect(secrets.list().filter((it) => it.damaged)).toEqual([])
  for (const lane of lanes) {
    const kept = Number(secrets.get(lane, 'count')?.value)
    // The last one may be on disk without anybody having been told.
    expect([said(lane), said(lane) + 1]).toContain(kept)
    expect(kept).toBeGreaterThanOrEqual(KILLS / lanes.length)
  }
  // The next change sweeps up what the dead left beside the file.
  await secrets.put('secret', 'A', 'a')
  const left = readdirSync(places.state).filter((it) => it !== 'secrets.json')
  expect(left).toEqual([])
})
