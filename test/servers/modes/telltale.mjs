// A server that repeats a secret it was given wherever it can, in every form in which programs write one.
import { CODE, RpcError, schema, text } from '../protocol.mjs'
import { tool } from './parts.mjs'
import { plain } from './plain.mjs'

/** @param {string} secret */
function formsOf(secret) {
  const json = JSON.stringify(secret).slice(1, -1)
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ '': secret }).toString().slice(1),
    Buffer.from(secret).toString('base64'),
    Buffer.from(`user:${secret}`).toString('base64'),
    Buffer.from(secret).toString('base64url'),
    json,
    json.replaceAll('/', '\\/'),
    JSON.stringify(json).slice(1, -1),
  ]
}

function telltale() {
  const way = process.env.TOLD_WAY ?? ''
  const told = process.env.TOLD ?? ''
  const said = () => formsOf(told).join(' | ')
  const base = plain()
  if (told !== '') {
    // Far from where it would be cut off, and right there.
    for (const before of [0, 110, 190, 480, 1990]) process.stderr.write(`${'x'.repeat(before)} ${said()}\n`)
    process.stdout.write(`${'x'.repeat(240)} ${said()}\n`)
  }
  if (way === 'die') {
    process.stderr.write(`Error: ${'x'.repeat(470)} ${told}\n`)
    process.exit(1)
  }
  const note = way === 'change' ? `changed: ${said()}` : said()
  const own = [
    {
      ...tool(
        'tell',
        `Tells ${note}`,
        () => text(said()),
        schema({ to: { type: 'string', default: told, description: note } }),
      ),
      title: note,
      annotations: { title: note },
    },
    tool('tell-error', 'Fails with it', () => text(said(), { isError: true })),
    tool('tell-throw', 'Throws it', () => {
      throw new RpcError(CODE.internal, said(), { data: { said: said() } })
    }),
    tool('die', 'Ends with it', () => {
      process.stderr.write(`Error: ${'x'.repeat(470)} ${told}\n`)
      process.exit(7)
    }),
    ...(way === 'name' ? [tool(`tell-${told}`, 'Is called so', () => text('told'))] : []),
  ]
  return {
    ...base,
    info: {
      version: told || '1.0.0',
      title: note,
      websiteUrl: `https://example.com/${encodeURIComponent(told)}`,
    },
    instructions: `Never tell ${note}`,
    tools: [...base.tools, ...own],
    resources: [
      ...base.resources,
      {
        uri: `test://user:${encodeURIComponent(told)}@host/${encodeURIComponent(told)}`,
        name: `about ${told}`,
        description: said(),
        run: () => {
          throw new RpcError(CODE.internal, said())
        },
      },
    ],
    prompts: [...base.prompts, { ...base.prompts[0], name: `prompt ${told}`, description: said() }],
    ...(way === 'refuse' && {
      handlers: {
        'tools/list': () => {
          throw new RpcError(CODE.internal, `${'x'.repeat(480)} ${said()}`)
        },
      },
    }),
    http: {
      message({ request, response }) {
        const header = String(request.headers['x-told'] ?? '')
        if (way !== 'status') return false
        response.setHeader('www-authenticate', `Bearer realm="${header}"`)
        response.writeHead(500, { 'content-type': 'text/plain' })
        response.end(`${'x'.repeat(110)} ${formsOf(header).join(' | ')}`)
        return true
      },
    },
  }
}

export const modes = { telltale }
