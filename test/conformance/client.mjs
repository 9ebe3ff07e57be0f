// The client under test: drives the built library through one scenario. The suite starts it with the address of its
// own server as the last argument and the scenario's name in the environment.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHub } from '../../dist/index.js'

const url = process.argv.at(-1)
const name = process.env.MCP_CONFORMANCE_SCENARIO
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}')

/** Each scenario: what to tell the hub beyond the server's address, and what to do once it is ready. */
const scenarios = {
  initialize: { run: () => {} },
  'request-metadata': { run: () => {} },
  'json-schema-ref-no-deref': { run: listed('lookup_user') },
  tools_call: { run: ({ agent }) => agent.call('s/add_numbers', { a: 5, b: 3 }) },
  'sse-retry': { run: ({ agent }) => agent.call('s/test_reconnection', {}) },
  'elicitation-sep1034-client-defaults': {
    // Nothing is filled in: the defaults of the form have to come from the library.
    options: { onElicitation: async () => ({ action: 'accept', content: {} }) },
    run: ({ agent }) => agent.call('s/test_client_elicitation_defaults', {}),
  },
  'sep-2322-client-request-state': multiRound(),
  'http-standard-headers': { run: standardHeaders },
  'http-custom-headers': { run: ({ agent }) => inOrder(context.toolCalls, agent) },
  'http-invalid-tool-headers': { run: everyTool },
  'json-schema-2020-12-preservation': { run: echoSchema },
}

const scenario = name?.startsWith('auth/') ? signingIn() : scenarios[name]
if (scenario === undefined) {
  console.error(`no driver for scenario ${name}`)
  process.exit(1)
}

const home = await mkdtemp(join(tmpdir(), 'busbar-conformance-home-'))
const hub = await createHub({
  home,
  config: { version: 1, servers: { s: { type: 'http', url, ...scenario.server } } },
  ...scenario.options,
})
try {
  const agent = hub.as()
  const { failed } = await agent.ready()
  if (failed.length > 0) throw new Error(`the server did not become ready: ${JSON.stringify(failed)}`)
  await scenario.run({ agent })
} finally {
  // Nothing ends this process but its own silence: a connection or child left behind shows as a timeout.
  await hub.close()
  await rm(home, { recursive: true, force: true })
}

// The person signs in as soon as they are asked to: the suite's authorization server sends every browser straight back.
function signingIn() {
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = context
  const auth = {
    type: 'oauth',
    ...(name.startsWith('auth/client-credentials') ? { grant: 'client_credentials' } : {}),
    ...(clientId ? { clientId } : {}),
    ...(clientSecret ? { clientSecret } : {}),
    ...(privateKey ? { privateKey } : {}),
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
  }
  return {
    server: { auth },
    options: {
      onSignIn: async ({ url: address }) => {
        await (await fetch(address)).text()
      },
    },
    run: ({ agent }) => agent.call('s/test-tool', {}),
  }
}

function listed(tool) {
  return ({ agent }) => {
    if (!agent.tools().some((entry) => entry.name === tool)) throw new Error(`${tool} is not listed`)
  }
}

// The unrelated call starts while the first one waits for its answer, which is when state could leak across.
function multiRound() {
  let between
  return {
    options: {
      onElicitation: async () => {
        between?.()
        return { action: 'accept', content: { confirmed: true } }
      },
    },
    async run({ agent }) {
      const unrelated = new Promise((resolve, reject) => {
        between = () => {
          between = undefined
          agent.call('s/test_mrtr_unrelated', {}).then(resolve, reject)
        }
      })
      await Promise.all([agent.call('s/test_mrtr_echo_state', {}), unrelated])
      await agent.call('s/test_mrtr_no_state', {})
      await agent.call('s/test_mrtr_no_result_type', {})
    },
  }
}

async function standardHeaders({ agent }) {
  for (const tool of agent.tools()) await agent.call(tool.address, {})
  for (const resource of await agent.resources('s')) await agent.read('s', resource.uri)
  for (const prompt of await agent.prompts('s')) await agent.getPrompt('s', prompt.name, {})
}

async function inOrder(calls, agent) {
  for (const call of calls) await agent.call(`s/${call.name}`, call.arguments)
}

// Calls whatever is listed: tools with unusable header annotations must have been left out.
async function everyTool({ agent }) {
  const samples = { string: 'us-west1', object: {}, array: [], null: null, number: 1.5 }
  for (const tool of agent.tools()) {
    const properties = Object.entries(tool.inputSchema.properties ?? {})
    await agent.call(
      tool.address,
      Object.fromEntries(properties.map(([key, { type }]) => [key, samples[type]])),
    )
  }
}

async function echoSchema({ agent }) {
  const tool = agent.tools().find((entry) => entry.name === 'json_schema_2020_12_tool')
  if (tool === undefined) throw new Error('json_schema_2020_12_tool is not listed')
  await agent.call('s/json_schema_echo', { schema: tool.inputSchema })
}
