import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Environment, placesOf } from '../base/places.ts'
import { secretsFile } from '../secrets/places.ts'
import { openSecrets, type Secrets } from '../secrets/secrets.ts'
import { diffServers } from './diff.ts'
import { loadConfig } from './load.ts'
import { secretStamps } from './secret-stamps.ts'
import type { Snapshot } from './snapshot.ts'
import { missingWarnings, reportServer, resolveServer } from './status.ts'
import { type ConfigEvent, watchConfig } from './watch.ts'

interface Home {
  readonly env: Environment
  readonly secrets: Secrets
  load(config: object): Promise<Snapshot>
}

async function home(): Promise<Home> {
  const folder = mkdtempSync(join(tmpdir(), 'busbar-reader-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const env = { HOME: folder, BUSBAR_HOME: join(folder, 'busbar') }
  const secrets = await openSecrets(placesOf(env), env)
  return { env, secrets, load: (data) => loadConfig({ cwd: folder, env, data }) }
}

function resolved(snapshot: Snapshot, name: string): unknown {
  const entry = snapshot.servers.get(name)
  return entry && resolveServer(entry, snapshot)
}

function said(snapshot: Snapshot): string[] {
  return missingWarnings(snapshot).map(({ message, hint }) => `${message} | ${hint}`)
}

test('[A3] a secret is filled in like a variable; one that is not kept skips its server, with the command that keeps it', async () => {
  const { secrets, load } = await home()
  await secrets.put('secret', 'KEPT', 'the value')
  await secrets.put('secret', 'EMPTY', '')
  // A server's own is nobody else's.
  await secrets.put('server:a', 'NONE', 'a token')
  const snapshot = await load({
    servers: {
      good: { url: 'https://example.com/${secret:KEPT}', headers: { A: 'Bearer ${secret:KEPT}' } },
      bad: { command: 'x', env: { A: '${secret:NONE}', B: '${UNSET_VARIABLE}', C: '${secret:EMPTY}' } },
      odd: { command: 'x', env: { A: '${secret:op://vault/item}' } },
    },
    agents: { ada: { token: '${secret:TOKEN}' } },
  })
  expect(resolved(snapshot, 'good')).toMatchObject({
    ok: true,
    value: { url: 'https://example.com/the value', headers: { A: 'Bearer the value' } },
  })
  expect(said(snapshot)).toEqual([
    'bad is skipped: the secret NONE, UNSET_VARIABLE, the secret EMPTY are not set | run: export UNSET_VARIABLE=… && busbar secrets set NONE && busbar secrets set EMPTY',
    'odd is skipped: secret:op://vault/item is not set | Busbar does not fill that in; write a ${VARIABLE} or a ${secret:NAME} instead',
    'agents.ada.token is left out: the secret TOKEN is not set | run: busbar secrets set TOKEN',
  ])
  expect(JSON.stringify(snapshot)).not.toContain('the value')
})

test('[C11] a damaged secret is said with its remedy, and others are filled in', async () => {
  const { env, secrets, load } = await home()
  await secrets.put('secret', 'BAD', 'bad')
  await secrets.put('secret', 'GOOD', 'good')
  const file = secretsFile(placesOf(env))
  const content = JSON.parse(readFileSync(file, 'utf8'))
  content.entries[0].version += 1
  writeFileSync(file, JSON.stringify(content))
  const snapshot = await load({
    servers: {
      bad: { command: 'x', env: { A: '${secret:BAD:-default}' } },
      good: { command: '${secret:GOOD}' },
    },
  })
  expect(resolved(snapshot, 'good')).toMatchObject({ ok: true, value: { command: 'good' } })
  expect(said(snapshot)).toEqual([
    'bad is skipped: the secret BAD was damaged or changed by somebody else | give it again: busbar secrets set BAD',
  ])
  const entry = snapshot.servers.get('bad')
  expect(entry && reportServer(entry, snapshot).error).toBe(
    'needs the secret BAD: the secret BAD was damaged or changed by somebody else',
  )
})

test('one reading of the configuration keeps its secrets; the next tells which servers have others', async () => {
  const { secrets, load } = await home()
  const config = {
    servers: {
      a: { command: 'x', env: { A: '${secret:A}' } },
      b: { command: 'x', env: { B: '${secret:B}' } },
    },
  }
  await secrets.put('secret', 'A', 'first')
  const before = await load(config)
  await secrets.put('secret', 'A', 'second')
  const after = await load(config)
  expect(resolved(before, 'a')).toMatchObject({ value: { env: { A: 'first' } } })
  expect(resolved(after, 'a')).toMatchObject({ value: { env: { A: 'second' } } })
  const stamped = ({ config: { servers }, secrets: reader }: Snapshot) =>
    Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, secretStamps(server, reader)]))
  expect(diffServers(stamped(before), stamped(after))).toMatchObject({ changed: ['a'], unchanged: ['b'] })
  expect(JSON.stringify(stamped(after))).not.toContain('second')
  expect(secretStamps({ A: '${VARIABLE}' }, undefined)).toBeUndefined()
})

test('[D14] whoever watches the configuration is told of a secret that changed, and of no other', async () => {
  const { env, secrets } = await home()
  const data = { servers: { a: { command: 'x', env: { A: '${secret:A}' } }, b: { command: 'x' } } }
  const events: ConfigEvent[] = []
  const waiting: (() => void)[] = []
  const watch = await watchConfig(
    { env, data },
    (event) => {
      events.push(event)
      for (const tell of waiting.splice(0)) tell()
    },
    { debounceMs: 5, pollMs: 20 },
  )
  onTestFinished(() => watch.close())
  const next = () => new Promise<void>((resolve) => waiting.push(resolve))
  for (const change of [
    () => secrets.put('secret', 'A', 'first'),
    () => secrets.put('secret', 'A', 'second'),
    () => secrets.remove('secret', 'A'),
  ]) {
    const told = next()
    // Not named by anything, so nobody is told of it.
    await secrets.put('secret', 'OTHER', 'x')
    await change()
    await told
  }
  expect(events.map((event) => event.kind === 'applied' && event.diff.changed)).toEqual([['a'], ['a'], ['a']])
})
