// A server on one shared stream that asks when its answer is long out: nobody else may take that for their own question.

import { expect, test } from 'vitest'
import { AGENTS, type Answer, ownServer, place, up } from './hub.ts'
import { ASKING, ASKING_TOOLS, WireClient } from './wire-client.ts'

const FORM = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } }
const QUESTION = { method: 'elicitation/create', params: FORM }
const CAPABILITIES = { capabilities: { elicitation: {} } }
/** `start` leaves a job behind that asks; `slow` asks nothing. */
const TOOLS = ASKING_TOOLS.replace(
  /\}$/,
  `start: ({ who }, say) => {
    const late = { id: 'late', method: 'elicitation/create', params: { ...${JSON.stringify(FORM)}, message: who } }
    setTimeout(() => say(late), 400)
    return 'started'
  },
  slow: () => new Promise((resolve) => setTimeout(() => resolve('done'), 1000)),
  echo: () => 'echo',
}`,
)

async function late(more: object = {}) {
  const { sandbox } = place()
  const own = { ...ownServer(sandbox, TOOLS, ASKING), ...more }
  const agents = { ...AGENTS, bob: { servers: ['*'], token: 'bobs-token', approval: 'never' } }
  const gateway = await up(sandbox, { servers: { own }, agents })
  const ada = await WireClient.open(gateway, '/mcp/own', CAPABILITIES)
  const bob = await WireClient.open(gateway, '/mcp/own', { ...CAPABILITIES, token: 'bobs-token' })
  return { ada, bob }
}

/** Whether a client is asked in the middle of its own call, and its answer is heard. */
async function isAsked(client: WireClient): Promise<boolean> {
  const events = await client.begin('ask', QUESTION, 50)
  const { id } = await events.find('elicitation/create')
  await client.answer(id, { action: 'decline' })
  return JSON.parse((await events.find(50)).result.content[0].text).result.action === 'decline'
}

const answers = async (client: WireClient): Promise<Answer[]> =>
  JSON.parse((await client.call('answers')).content[0].text)

test('[C11] what a server asks after its answer is shown to nobody who calls then, nor is anything it asks later', async () => {
  const { ada, bob } = await late()
  await ada.call('start', { who: 'a secret of Ada' })
  const events = await (await bob.begin('slow')).end()
  expect(events.of('elicitation/create')).toEqual([])
  expect(await answers(bob)).toMatchObject([
    { error: { code: -32601, message: expect.stringContaining("outside of a client's call") } },
  ])
  const { content } = await bob.call('ask', QUESTION)
  expect(content[0].text).toContain('has asked outside of calls before')
})

test('[C11] neither is it when what is called then is known to ask nothing, and goes beside', async () => {
  const { ada, bob } = await late()
  await bob.call('slow')
  await ada.call('start', { who: 'a secret of Ada' })
  const events = await (await bob.begin('slow')).end()
  expect(events.of('elicitation/create')).toEqual([])
  expect(await answers(bob)).toMatchObject([
    { error: { code: -32603, message: expect.stringContaining('was answered a moment ago') } },
  ])
})

for (const share of ['agent', 'session'])
  test(`[C11] with share: ${share} a server that asks by itself may go on asking who calls`, async () => {
    const { ada, bob } = await late({ share })
    await ada.call('start', { who: 'Ada' })
    await ada.call('slow')
    expect([await isAsked(ada), await isAsked(bob)]).toEqual([true, true])
  })

test('[C11] of a server that asks in the middle of calls alone, clients that call one after the other each hear theirs', async () => {
  const { ada, bob } = await late()
  await ada.call('echo')
  for (const client of [bob, ada, bob]) {
    expect(await isAsked(client)).toBe(true)
    await client.call('echo')
  }
})
