// A person is asked before a call, and nothing gets past that.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import type { Sandbox } from './cli.ts'
import {
  type Answer,
  faultOf,
  type Gateway,
  type Hub,
  JsonText,
  ownServer,
  place,
  TOKEN,
  until,
  up,
} from './hub.ts'

const plain = serverCommand('plain')
const ADMIN = 'the-owner-token'

/** A hub in which `cto` has to ask for everything. */
async function asking(servers: object = { plain }, more: object = {}): Promise<Hub> {
  const hub = await place().open({ servers, agents: { cto: { servers: ['*'] } }, ...more } as never)
  await hub.as('cto').ready()
  return hub
}

async function askedFor(work: Promise<unknown>): Promise<string> {
  const fault = await faultOf(work)
  expect(fault.code).toBe('APPROVAL_PENDING')
  return String(fault.details?.['approval'])
}

test('[D11] a call is made once a person allowed it, once, and each attempt is one row', async () => {
  const hub = await asking()
  const cto = hub.as('cto')
  const id = await askedFor(cto.call('plain/echo', { text: 'hi' }))
  await hub.approvals.answer(id, { decision: 'allow' }, 'test')
  expect((await cto.call('plain/echo', { text: 'hi' })).text).toBe('hi')
  expect(await askedFor(cto.call('plain/echo', { text: 'hi' }))).not.toBe(id)
  await hub.flush()
  const rows = await hub.calls.list({ agent: 'cto' })
  expect(rows.map(({ outcome, code }) => [outcome, code])).toEqual([
    ['denied', 'APPROVAL_PENDING'],
    ['ok', undefined],
    ['denied', 'APPROVAL_PENDING'],
  ])
})

test('[D11] every digit of the arguments counts, the order of keys does not', async () => {
  const hub = await asking()
  const cto = hub.as('cto')
  const call = (text: string) => cto.call('plain/add', new JsonText(text))
  const id = await askedFor(call('{"a":12345678901234567891,"b":1}'))
  await hub.approvals.answer(id, { decision: 'allow' }, 'test')
  for (const other of [
    '{"a":12345678901234567000,"b":1}',
    '{"a":12345678901234567891,"b":1.0}',
    '{"a":1,"b":1}',
  ])
    expect([other, await askedFor(call(other))]).not.toEqual([other, id])
  await call('{ "b": 1, "a": 12345678901234567891 }')
  expect((await hub.approvals.get(id)).status).toBe('used')
})

test('[D11] what is allowed is this definition on this server: a changed or swapped one is another', async () => {
  const home = place()
  const first = ownServer(home.sandbox, "{ go: () => 'done' }")
  const hub = await home.open({ servers: { own: first }, agents: { cto: { servers: ['*'] } } } as never)
  await hub.as('cto').ready()
  const id = await askedFor(hub.as('cto').call('own/go'))
  await hub.approvals.answer(id, { decision: 'allow' }, 'test')
  // The same tool from another program under the same name.
  const swapped = ownServer(home.sandbox, "{ go: () => 'done' }")
  await hub.servers.setServers({ own: swapped } as never)
  await hub.as('cto').ready()
  expect(await askedFor(hub.as('cto').call('own/go'))).not.toBe(id)
  // Back again: the answer is still good, for what it was given for.
  await hub.servers.setServers({ own: first } as never)
  await hub.as('cto').ready()
  expect((await hub.as('cto').call('own/go')).text).toBe('"done"')
})

test('[D11] a server that is swapped while a person thinks is not called', async () => {
  const home = place()
  const tools = (text: string) => `{ go: () => ${JSON.stringify(text)} }`
  const hub = await home.open({
    servers: { own: ownServer(home.sandbox, tools('first')) },
    agents: { cto: { servers: ['*'] } },
  } as never)
  await hub.as('cto').ready()
  const waiting = faultOf(hub.as('cto').call('own/go', {}, { approvalWait: 60_000 }))
  const question = await until(async () => (await hub.approvals.list('pending'))[0])
  await hub.servers.setServers({ own: ownServer(home.sandbox, tools('second')) } as never)
  await hub.as('cto').ready()
  await hub.approvals.answer(question.id, { decision: 'allow' }, 'test')
  expect(await waiting).toMatchObject({
    code: 'TOOL_CHANGED',
    message: 'own was configured anew meanwhile, so own/go was not called',
    hint: 'make the call again: it is judged as it is now',
  })
  await hub.flush()
  expect((await hub.calls.list({ agent: 'cto' })).map(({ outcome }) => outcome)).toEqual(['denied'])
})

test('[D11] an agent that lost its access while a person thought is not let through', async () => {
  const hub = await asking()
  const waiting = faultOf(hub.as('cto').call('plain/echo', { text: 'hi' }, { approvalWait: 60_000 }))
  const question = await until(async () => (await hub.approvals.list('pending'))[0])
  await hub.servers.apply({ servers: { plain }, agents: { cto: { servers: [] } } } as never)
  await hub.approvals.answer(question.id, { decision: 'allow' }, 'test')
  expect((await waiting).code).toBe('NO_ACCESS')
})

test('[D11] an answer that comes too late is refused, and the call asks again', async () => {
  const hub = await asking({ plain }, { approvals: { expire: '1s' } })
  const id = await askedFor(hub.as('cto').call('plain/echo', { text: 'hi' }))
  await until(async () => (await hub.approvals.list('expired')).length > 0)
  expect((await faultOf(hub.approvals.answer(id, { decision: 'allow' }, 'test'))).code).toBe(
    'APPROVAL_UNKNOWN',
  )
  expect(await askedFor(hub.as('cto').call('plain/echo', { text: 'hi' }))).not.toBe(id)
})

test('[B14][D11] a tool that its server calls read-only still asks under writes, unless a person vouches for it', async () => {
  const agents = { cto: { servers: ['*'], approval: 'writes' } }
  const hub = await place().open({
    servers: { plain, trusted: { ...plain, trustAnnotations: true } },
    agents,
  } as never)
  await hub.as('cto').ready()
  await askedFor(hub.as('cto').call('plain/echo', { text: 'hi' }))
  expect((await hub.as('cto').call('trusted/echo', { text: 'hi' })).text).toBe('hi')
  await askedFor(hub.as('cto').call('trusted/fail'))
})

test('[D11] per tool and per server rules, presets, and what is remembered decide who is asked', async () => {
  const hub = await place().open({
    servers: {
      ruled: { ...plain, approval: { echo: 'allow', add: 'ask', fail: 'deny' } },
      free: { ...plain, approval: 'never' },
    },
    agents: { cto: { servers: ['*'], approval: 'always' }, bot: { servers: ['*'], approval: 'never' } },
  } as never)
  const cto = hub.as('cto')
  await cto.ready()
  await cto.call('ruled/echo', { text: 'x' })
  const id = await askedFor(cto.call('ruled/add', { a: 1, b: 2 }))
  expect((await faultOf(cto.call('ruled/fail'))).code).toBe('NO_ACCESS')
  await cto.call('free/add', { a: 1, b: 2 })
  // A preset does not undo a rule for the tool.
  await askedFor(hub.as('bot').call('ruled/add', { a: 1, b: 2 }))
  await hub.approvals.answer(id, { decision: 'allow', remember: 'tool' }, 'test')
  await cto.call('ruled/add', { a: 1, b: 2 })
  await cto.call('ruled/add', { a: 3, b: 4 })
  await askedFor(hub.as('bot').call('ruled/add', { a: 1, b: 2 }))
})

test('[D11] a program answers by a handler, and sees what is asked', async () => {
  const hub = await asking()
  const seen: unknown[] = []
  hub.onApproval((approval) => {
    seen.push([approval.agent, approval.server, approval.tool, approval.arguments, approval.risk])
    return { decision: approval.arguments.includes('please') ? 'allow' : 'deny' }
  })
  expect((await hub.as('cto').call('plain/echo', { text: 'please' })).text).toBe('please')
  expect((await faultOf(hub.as('cto').call('plain/echo', { text: 'now' }))).code).toBe('APPROVAL_DENIED')
  expect(seen[0]).toEqual(['cto', 'plain', 'echo', '{"text":"please"}', 'write'])
})

test('[D11] a program that says how long it waits is not kept longer by a handler that does not decide', async () => {
  const hub = await asking()
  hub.onApproval(() => new Promise(() => undefined))
  expect(await askedFor(hub.as('cto').call('plain/echo', { text: 'hi' }, { approvalWait: 50 }))).not.toBe('')
})

test('[D11] a hub that keeps nothing asks all the same', async () => {
  const hub = await place().open({ servers: { plain }, agents: { cto: { servers: ['*'] } } } as never, {
    store: 'none',
  })
  await hub.as('cto').ready()
  const id = await askedFor(hub.as('cto').call('plain/echo', { text: 'hi' }))
  await hub.approvals.answer(id, { decision: 'allow' }, 'test')
  await hub.as('cto').call('plain/echo', { text: 'hi' })
  await askedFor(hub.as('cto').call('plain/echo', { text: 'hi' }))
})

/** A gateway whose agent has to ask, and the sandbox in which the owner's commands reach it. */
async function asked(wait: string): Promise<{ gateway: Gateway; sandbox: Sandbox }> {
  const { sandbox } = place()
  const config = {
    servers: { plain },
    agents: { ada: { servers: ['*'], token: TOKEN } },
    approvals: { wait },
  }
  return { sandbox, gateway: await up(sandbox, config, { env: { BUSBAR_ADMIN_TOKEN: ADMIN } }) }
}

const echo = (gateway: Gateway, text = 'hi'): Promise<Answer> =>
  gateway.ask('plain', 'tools/call', { name: 'echo', arguments: { text } })

test('[D11] a client of the gateway is told to retry; the command line answers', async () => {
  const { gateway, sandbox } = await asked('0s')
  const first = (await echo(gateway)).result
  expect(first.isError).toBe(true)
  expect(first.content[0].text).toMatch(/a person has to allow plain\/echo first.*retry the very same call/)
  const { approval } = first._meta['busbar/fault']
  const { approvals } = (await sandbox.run(['approve', 'list', '--json'])).json
  expect(approvals).toEqual([
    expect.objectContaining({
      id: approval,
      agent: 'ada',
      address: 'plain/echo',
      arguments: '{"text":"hi"}',
      status: 'pending',
      risk: 'write',
    }),
  ])
  const shown = await sandbox.run(['approve', 'list'])
  expect(shown.stdout).toContain('ada wants plain/echo')
  expect(shown.stdout).toContain('text = "hi"')
  expect((await sandbox.run(['approve', 'allow', approval.slice(-8)])).stdout).toContain('once')
  expect((await echo(gateway)).result.content[0].text).toBe('hi')
  expect((await sandbox.run(['approve', 'allow', approval])).code).toBe(1)
  const { approvals: told } = (await sandbox.run(['usage', '--json'])).json
  expect(told).toMatchObject({ asked: 1, allowed: 1 })
  await echo(gateway, 'ho')
  const [next] = (await sandbox.run(['approve', 'list', '--json'])).json.approvals
  expect(next.lastCall.changes).toEqual([{ path: 'text', before: 'hi', after: 'ho' }])
})

test('[D11] a call through the gateway waits for the answer, which may come over HTTP; agents cannot give it', async () => {
  const { gateway } = await asked('30s')
  const api = (path: string, token: string, body?: object) =>
    fetch(`${gateway.url}/api/approvals${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body ? JSON.stringify(body) : null,
    })
  const waiting = echo(gateway)
  const [question] = await until(async () => {
    const { approvals } = (await (await api('', ADMIN)).json()) as { approvals: Answer[] }
    return approvals.length > 0 ? approvals : undefined
  })
  const path = `/${question.id}`
  for (const body of [undefined, { decision: 'allow' }])
    for (const token of [TOKEN, 'wrong', ''])
      expect([401, 403]).toContain((await api(body ? path : '', token, body)).status)
  expect((await api(path, ADMIN, { decision: 'maybe' })).status).toBe(400)
  expect((await api(path, ADMIN, { decision: 'allow' })).status).toBe(200)
  expect((await waiting).result.content[0].text).toBe('hi')
  // Two tabs, or a replay: one answer counts.
  expect((await api(path, ADMIN, { decision: 'allow' })).status).toBe(409)
  const next = echo(gateway)
  await until(async () => {
    const { approvals } = (await (await api('', ADMIN)).json()) as { approvals: Answer[] }
    const [open] = approvals
    if (open) await api(`/${open.id}`, ADMIN, { decision: 'deny', remember: 'tool' })
    return open
  })
  expect((await next).result._meta['busbar/fault'].code).toBe('APPROVAL_DENIED')
  expect((await echo(gateway, 'other')).error.data.code).toBe('NO_ACCESS')
})

test('[D11] the command line says 7 while a person is asked, waits on request, and questions outlive the gateway', async () => {
  const { sandbox } = place()
  const config = { servers: { plain }, agents: { cto: { servers: ['*'] } } }
  const from = ['--config', sandbox.write('team.json', JSON.stringify(config)), '--trust']
  const call = ['call', 'plain/echo', 'text=hi', '--agent', 'cto', ...from]
  const first = await sandbox.run([...call, '--json'])
  expect(first.code).toBe(7)
  expect(first.error).toMatchObject({ code: 'APPROVAL_PENDING', approval: expect.any(String) })
  expect(first.error.hint).toContain('busbar approve allow')
  const waiting = sandbox.run([...call, '--wait', '60s'])
  const { approval } = first.error
  expect((await sandbox.run(['approve', 'allow', approval, ...from])).code).toBe(0)
  expect(await waiting).toMatchObject({ code: 0, stdout: 'hi\n' })
  const gateway = await up(sandbox, config)
  const again = await sandbox.run([...call, '--json'])
  expect(again.code).toBe(7)
  await gateway.end('SIGKILL')
  await up(sandbox, config)
  expect((await sandbox.run(['approve', 'list', '--json', ...from])).json.approvals).toHaveLength(1)
  await sandbox.run(['approve', 'deny', again.error.approval, ...from])
  expect((await sandbox.run(call)).code).toBe(6)
  expect((await sandbox.run(['approve', 'rules', 'remove', 'nope12', ...from])).code).toBe(1)
})

test('[D11] an agent that does not exist is said, with a gateway and without one', async () => {
  const { sandbox, gateway } = await asked('0s')
  const list = (agent: string) =>
    sandbox.run(['approve', 'list', '--agent', agent, '--json', '--config', 'team.json', '--trust'])
  const check = async () => {
    expect((await list('ada')).json).toEqual({ approvals: [] })
    const { code, error } = await list('adaa')
    expect(code).not.toBe(0)
    expect(error).toMatchObject({ code: 'AGENT_UNKNOWN', hint: 'did you mean ada?' })
  }
  await check()
  await gateway.end('SIGTERM')
  await check()
})

test('[D11] what is asked cannot act on the terminal, and is shown to its end', async () => {
  const { gateway, sandbox } = await asked('0s')
  await echo(gateway, `\u001b[2J\u202e${'x'.repeat(5000)} the end`)
  const shown = (await sandbox.run(['approve', 'list'])).stdout
  expect(shown).not.toContain('\u001b[2J')
  expect(shown).not.toContain('\u202e')
  expect(shown).toMatch(/more characters … .*the end/)
})

test('[D11] names of arguments make no lines and move no cursor; numbers are shown as they will be sent', async () => {
  const hub = await asking()
  const key = '\u001b[1A\u001b[2Kforged\nallowed by ann'
  await askedFor(hub.as('cto').call('plain/add', new JsonText(`{"a":12345678901234567891,"b":1.0}`)))
  await askedFor(
    hub
      .as('cto')
      .call('plain/echo', { text: 'x', [key]: 1 })
      .catch((error) => Promise.reject(error)),
  )
  const { sandbox } = place()
  const env = { BUSBAR_HOME: hub.places.state.replace(/\/state$/, '') }
  const shown = (await sandbox.run(['approve', 'list'], { env })).stdout
  expect(shown).toContain('a = 12345678901234567891')
  expect(shown).toContain('b = 1.0')
  expect(shown).not.toContain('\u001b[1A')
  expect(shown.split('\n').some((line) => line.startsWith('allowed by ann'))).toBe(false)
})

test('[D11] what a person denied for good is not listed by the gateway either', async () => {
  const { gateway, sandbox } = await asked('0s')
  const { result } = await echo(gateway)
  const { approval } = result._meta['busbar/fault']
  await sandbox.run(['approve', 'deny', approval, '--remember', 'tool'])
  const listed = await gateway.ask('plain', 'tools/list')
  const names = listed.result.tools.map(({ name }: Answer) => name)
  expect(names).not.toContain('echo')
  expect(names).toContain('add')
})

test('[D11] another request is the very same one with another progress token, and what is shown has none', async () => {
  const { sandbox } = place()
  const own = ownServer(
    sandbox,
    '{ go: () => 1 }',
    "globalThis.methods = { 'custom/go': () => ({ done: true }) }",
  )
  const gateway = await up(sandbox, {
    servers: { own },
    agents: { ada: { servers: ['*'], token: TOKEN } },
    approvals: { wait: 0 },
  })
  const ask = (progressToken: number, x = 1) =>
    gateway.ask('own', 'custom/go', { x, _meta: { progressToken, trace: `t${progressToken}` } })
  const { error } = await ask(1)
  expect(error.data.code).toBe('APPROVAL_PENDING')
  const shown = (await sandbox.run(['approve', 'list'])).stdout
  expect(shown).toContain('x = 1')
  expect(shown).not.toContain('_meta')
  await sandbox.run(['approve', 'allow', error.data.approval])
  expect((await ask(2, 2)).error.data.approval).not.toBe(error.data.approval)
  expect((await ask(3)).result).toEqual({ done: true })
})
