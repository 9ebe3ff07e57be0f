// Ctrl-C and Ctrl-D at the questions of commands: nobody has agreed to anything.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { BINARY, Sandbox } from './cli.ts'
import { userFile } from './hub.ts'
import { type Terminal, terminal } from './terminal.ts'

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const THEIRS = '{"mcpServers": {"theirs": {"command": "x"}}}'

/** A home with one server and no agent, and a client with a server of its own. */
function home(): { sandbox: Sandbox; file: string; config: string } {
  const sandbox = new Sandbox()
  const config = sandbox.write(
    userFile(sandbox),
    JSON.stringify({ servers: { plain: serverCommand('plain') } }),
  )
  return { sandbox, config, file: sandbox.write(join(sandbox.home, '.cursor/mcp.json'), THEIRS) }
}

function typed(sandbox: Sandbox, words: string, term = 'xterm'): Terminal {
  return terminal(sandbox, `exec '${process.execPath}' '${BINARY}' ${words}`, { TERM: term, NO_COLOR: '1' })
}

for (const term of ['xterm', 'dumb'])
  for (const [name, key, code] of [
    ['Ctrl-C', CTRL_C, 130],
    ['Ctrl-D', CTRL_D, 1],
  ] as const)
    test(`[C11] ${name} at the question which servers an agent may use gives it none (${term})`, async () => {
      const { sandbox, file, config } = home()
      const before = sandbox.read(config)
      const asking = typed(sandbox, 'connect cursor --yes', term)
      await asking.shows('Empty is all of them (plain): ')
      asking.type(key)
      expect(await asking.ended).toBe(code)
      if (key === CTRL_D) await asking.shows(/\nerror: what cursor may use was not answered/)
      expect(asking.text()).not.toContain('Cursor is connected')
      expect([sandbox.read(file), sandbox.read(config)]).toEqual([THEIRS, before])
      expect(existsSync(join(sandbox.home, '.local/state/busbar/clients.json'))).toBe(false)
    })

for (const [words, question, said] of [
  ['connect cursor --servers plain', 'Take them over first? They stay there as well. [y/N] ', undefined],
  ['connect codex --servers plain', 'Make this file? [y/N] ', 'nothing was written'],
  ['import cursor', 'Take over 1? [y/N] ', 'nothing was taken over'],
  ['trust', 'Trust this? [y/N] ', 'nothing was trusted'],
] as const)
  test(`[C11] busbar ${words} ends with 130 at Ctrl-C, and takes Ctrl-D for a no`, async () => {
    const { sandbox, file, config } = home()
    const before = sandbox.read(config)
    sandbox.write('busbar.yaml', 'servers: { mine: { command: x } }\n')
    const stopped = typed(sandbox, words)
    await stopped.shows(question)
    stopped.type(CTRL_C)
    expect(await stopped.ended).toBe(130)
    expect(stopped.text()).not.toContain('error:')
    if (said !== undefined) {
      const left = typed(sandbox, words)
      await left.shows(question)
      left.type(CTRL_D)
      expect(await left.ended).toBe(1)
      await left.shows(`\nerror: ${said}`)
    }
    expect([sandbox.read(file), sandbox.read(config)]).toEqual([THEIRS, before])
    expect(existsSync(join(sandbox.home, '.codex'))).toBe(false)
    const { json } = await sandbox.run(['list', '--json'])
    expect(json.servers.find((it: { name: string }) => it.name === 'mine')).toMatchObject({ trusted: false })
  })
