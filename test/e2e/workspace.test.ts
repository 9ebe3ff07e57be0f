// The agent's own tools through the hub: decided on, asked about, paid for and recorded like any other.

import { mkdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { timeCost } from '../../src/policy/estimate.ts'
import { codeOf, faultOf, type Hub, isAlive, place, until } from './hub.ts'

const AGENTS = {
  ada: { servers: [], approval: 'destructive' as const },
  bob: { servers: [], approval: 'never' as const },
}

interface Held {
  readonly hub: Hub
  readonly root: string
}

async function held(tools: Record<string, boolean> = {}): Promise<Held> {
  const { sandbox, open } = place()
  const root = sandbox.path('notes')
  mkdirSync(root, { recursive: true })
  sandbox.write('notes/a.txt', 'milk\n')
  const hub = await open({ servers: {}, agents: AGENTS, agent: { as: 'ada', workspace: root, tools } })
  return { hub, root }
}

test('[E2] the built-in agent has them, and nobody else', async () => {
  const { hub } = await held()
  const names = (agent: string) =>
    hub
      .as(agent)
      .tools()
      .map(({ address }) => address)
  expect(names('ada')).toEqual(expect.arrayContaining(['read_file', 'write_file', 'grep']))
  expect(names('ada')).not.toContain('terminal')
  expect(names('bob')).not.toContain('read_file')
  expect(await codeOf(hub.as('bob').call('read_file', { path: 'a.txt' }))).toBe('TOOL_UNKNOWN')
  expect(await codeOf(hub.as('ada').call('terminal', { command: 'id' }))).toBe('TOOL_UNKNOWN')
})

test('[E2] reading is let through, writing and the terminal ask, and all of it is recorded with its energy', async () => {
  const { hub, root } = await held({ terminal: true })
  const ada = hub.as('ada')
  expect((await ada.call('read_file', { path: 'a.txt' })).text).toBe('milk')
  for (const [tool, args] of [
    ['write_file', { path: 'b.txt', content: 'bread' }],
    ['terminal', { command: 'printf done > c.txt' }],
  ] as const) {
    const fault = await faultOf(ada.call(tool, args, { approvalWait: 0 }))
    expect(fault.code).toBe('APPROVAL_PENDING')
    const [question] = await hub.approvals.list('pending')
    expect(question).toMatchObject({ agent: 'ada', tool, risk: 'destructive' })
    await hub.approvals.answer(question?.id ?? '', { decision: 'allow' }, 'test')
    await ada.call(tool, args)
  }
  expect([readFileSync(`${root}/b.txt`, 'utf8'), readFileSync(`${root}/c.txt`, 'utf8')]).toEqual([
    'bread',
    'done',
  ])
  await hub.flush()
  const calls = await hub.calls.list({ agent: 'ada' })
  const ended = calls.filter(({ outcome }) => outcome === 'ok')
  expect(ended.map(({ tool }) => tool).sort()).toEqual(['read_file', 'terminal', 'write_file'])
  for (const { energy } of ended) expect(energy).toBeGreaterThan(0)
})

test('[E2] a workspace that was not there is looked for again with the next configuration', async () => {
  const { sandbox, open } = place()
  const root = sandbox.path('later')
  const config = { servers: {}, agents: AGENTS, agent: { as: 'ada', workspace: root } }
  const hub = await open(config)
  expect(await codeOf(hub.as('ada').call('read_file', { path: '.' }))).toBe('TOOL_UNKNOWN')
  mkdirSync(root)
  await hub.servers.apply(config)
  await until(() =>
    hub
      .as('ada')
      .tools()
      .some(({ address }) => address === 'read_file'),
  )
})

test('[E2] a command asks even where nothing else does, until a person wants their answer remembered', async () => {
  const { sandbox, open } = place()
  const root = sandbox.path('notes')
  mkdirSync(root, { recursive: true })
  const agent = { as: 'bob', workspace: root, tools: { terminal: true } }
  const hub = await open({ servers: {}, agents: AGENTS, agent })
  const bob = hub.as('bob')
  await bob.call('write_file', { path: 'b.txt', content: 'bread' })
  const args = { command: 'printf done' }
  expect(await codeOf(bob.call('terminal', args, { approvalWait: 0 }))).toBe('APPROVAL_PENDING')
  const [question] = await hub.approvals.list('pending')
  await hub.approvals.answer(question?.id ?? '', { decision: 'allow', remember: 'tool' }, 'test')
  await bob.call('terminal', args)
  expect((await bob.call('terminal', { command: 'printf again' }, { approvalWait: 0 })).text).toContain(
    'again',
  )
})

test('[E2] paths that lead out are told to the model as a failed tool, and cost no more than a try', async () => {
  const { hub } = await held()
  const ada = hub.as('ada')
  await ada.call('read_file', { path: 'a.txt' })
  const result = await ada.call('read_file', { path: '../../etc/passwd' })
  expect(result.isError).toBe(true)
  expect(result.text).toContain('is not in the workspace')
  await hub.flush()
  const [out, inside] = await hub.calls.list({ agent: 'ada' })
  expect([out?.outcome, inside?.outcome]).toEqual(['error', 'ok'])
  // The time it took, which for a path that is not even looked at is next to nothing, and no price on top.
  expect(out?.energy).toBeGreaterThan(0)
  expect(out?.energy).toBeCloseTo(timeCost(out?.duration ?? 0), 3)
})

test('[E2] a command that is cancelled is gone with all it started', async () => {
  const { hub, root } = await held({ terminal: true })
  const stop = new AbortController()
  hub.onApproval(async () => ({ decision: 'allow' }))
  const running = hub
    .as('ada')
    .call('terminal', { command: 'sleep 600 & echo $! > pid; wait' }, { signal: stop.signal })
  const over = codeOf(running)
  const pid = Number(await until(() => read(`${root}/pid`)))
  stop.abort()
  expect(await over).toBe('CALL_CANCELLED')
  await until(() => !isAlive(pid))
})

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}
