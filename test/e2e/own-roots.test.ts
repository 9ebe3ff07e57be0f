// Folders that a server asks for outside of calls: those of the client that it is for alone, or of nobody.

import { expect, test } from 'vitest'
import { AGENTS, type Answer, ownServer, place, until, up } from './hub.ts'
import { ASKING, type Events, WireClient } from './wire-client.ts'

/** Asks when it starts, and when it hears that they are others now. */
const CURIOUS = `
${ASKING}
const roots = []
const noted = globalThis.seen
globalThis.seen = (method, params, line) => {
  noted(method, params, line)
  if (method === 'notifications/initialized' || method === 'notifications/roots/list_changed')
    void ask(globalThis.say, 'roots/list', {}).then(({ result }) => roots.push(result.roots))
}
`
const TOOLS = '{ roots: () => roots, echo: () => 0 }'
const CAPABILITIES = { roots: { listChanged: true } }

async function curious(share: string) {
  const { sandbox } = place()
  const own = { ...ownServer(sandbox, TOOLS, CURIOUS), share }
  const agents = { ...AGENTS, bob: { ...AGENTS.ada, token: 'bobs-token' } }
  return await up(sandbox, { servers: { own }, agents })
}

/** A client with folders: it answers whatever stream the question comes on. */
class Owner {
  folder: string
  answers = 0
  readonly client: WireClient

  constructor(client: WireClient, folder: string) {
    this.client = client
    this.folder = folder
  }

  async reads(events: Events): Promise<void> {
    const answered = new Set<unknown>()
    for (;;) {
      const { ended } = events
      for (const { method, id } of events.messages)
        if (method === 'roots/list' && !answered.has(id)) {
          answered.add(id)
          await this.client.answer(id, { roots: [{ uri: this.folder }] })
          this.answers += 1
        }
      if (ended) return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  async starts(): Promise<void> {
    void this.reads(await this.client.listen())
    await this.reads(await this.client.begin('echo'))
    await until(() => this.answers === 1)
  }
}

const known = async (client: WireClient): Promise<Answer> =>
  JSON.parse((await client.call('roots')).content[0].text)

for (const share of ['session', 'agent'])
  test(`[C1] with share: ${share} a server is told the folders of its client when it starts, and when they change`, async () => {
    const gateway = await curious(share)
    const ada = await WireClient.open(gateway, '/mcp/own', { capabilities: CAPABILITIES })
    const bob = await WireClient.open(gateway, '/mcp/own', {
      capabilities: CAPABILITIES,
      token: 'bobs-token',
    })
    const owners = [new Owner(ada, 'file:///one'), new Owner(bob, 'file:///bobs')] as const
    for (const owner of owners) await owner.starts()
    owners[0].folder = 'file:///two'
    await ada.tell('notifications/roots/list_changed')
    await until(() => owners[0].answers === 2)
    expect(await known(ada)).toEqual([[{ uri: 'file:///one' }], [{ uri: 'file:///two' }]])
    expect(await known(bob)).toEqual([[{ uri: 'file:///bobs' }]])
  })

test('[C11] one that is for all is told of nobody’s, and not that they changed', async () => {
  const gateway = await curious('process')
  const ada = await WireClient.open(gateway, '/mcp/own', { capabilities: CAPABILITIES })
  // It runs before anybody calls, so what it asks then is nobody's.
  await ada.ask('tools/list')
  void new Owner(ada, 'file:///one').reads(await ada.listen())
  await ada.tell('notifications/roots/list_changed')
  expect(await known(ada)).toEqual([[]])
})
