// A folder for Busbar's own files that cannot be: said at once, with its reason and what helps.

import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { type Result, Sandbox } from './cli.ts'
import { createHub, faultOf } from './hub.ts'

const server = (): string => {
  const { command, args } = serverCommand('plain')
  return `x=${[command, ...args].join(' ')}`
}

const PLACES: [what: string, make: (sandbox: Sandbox) => string, reason: (home: string) => string][] = [
  ['below a device', () => '/dev/null/x', () => '/dev/null is no folder'],
  ['below a file', (it) => join(it.write('file', ''), 'y'), (home) => `${join(home, '..')} is no folder`],
  ['where nothing can be made', () => '/proc/nope', () => '/proc takes no folders'],
  [
    'behind a link to nothing',
    (it) => {
      symlinkSync(it.path('nowhere'), it.path('link'))
      return it.path('link')
    },
    (home) => `${home} is a link to what is not there`,
  ],
]
for (const [what, make, reason] of PLACES)
  test(`[C11] ${what} no command keeps anything: it says why at once, and what helps`, async () => {
    const sandbox = new Sandbox()
    const home = make(sandbox)
    const env = { BUSBAR_HOME: home }
    const call = ['call', 'x/echo', 'text=a', '--trust', '--mcp-server', server()]
    const all = [call, ['up', '--trust', '--mcp-server', server()], ['agents', 'add', 'ada']]
    for (const { code, stderr } of await inTurn(all, (args) => sandbox.run(args, { env }))) {
      expect(stderr).not.toContain('bug in Busbar')
      expect([code, stderr]).toEqual([1, expect.stringContaining(reason(home))])
      expect(stderr).toContain('BUSBAR_HOME')
    }
    const { error } = await sandbox.run([...call, '--json'], { env })
    expect(error).toMatchObject({ code: 'STATE_REFUSED', hint: expect.stringContaining('BUSBAR_HOME') })
    const hub = createHub({ config: { servers: { x: serverCommand('plain') } }, home, env: sandbox.env() })
    expect(await faultOf(hub)).toMatchObject({
      code: 'STATE_REFUSED',
      message: expect.stringContaining(reason(home)),
    })
  })

test('[C11] doctor finds it without making anything', async () => {
  const sandbox = new Sandbox()
  const { code, json } = await sandbox.run(['doctor', '--json'], { env: { BUSBAR_HOME: '/dev/null/x' } })
  const message = expect.stringContaining('/dev/null/x/state cannot be made: /dev/null is no folder')
  expect([code, json.findings.at(-1)]).toEqual([1, expect.objectContaining({ check: 'state', message })])
})

test('[C11] so does a folder that another user may not write to', async () => {
  const sandbox = new Sandbox()
  chmodSync(sandbox.root, 0o755)
  const home = join(sandbox.root, 'theirs')
  mkdirSync(home, { mode: 0o555 })
  // Root may write anywhere, so it goes as nobody.
  const as = process.getuid?.() === 0 ? { uid: 65534 } : {}
  const { code, stderr } = await sandbox.run(
    ['call', 'x/echo', 'text=a', '--trust', '--mcp-server', server()],
    {
      env: { BUSBAR_HOME: home },
      ...as,
    },
  )
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${home} cannot be written by this user`)])
})

async function inTurn<T>(items: readonly T[], run: (item: T) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await run(item))
  return results
}
