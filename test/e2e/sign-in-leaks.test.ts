// Tokens that can be told from everything else, and a server that says them whenever it can: they must be nowhere.

import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { browse } from '../servers/oauth/browse.ts'
import { change, type Hostile } from '../servers/oauth/hostile.ts'
import type { Sandbox } from './cli.ts'
import { faultOf, place, until, up } from './hub.ts'
import { owner, readEvents } from './owner.ts'
import { configured, filesBelow, hostile, signedIn } from './sign-in.ts'

// With what is written otherwise in addresses, in JSON and in forms, and of a length that base64 pads.
const SECRETS = {
  access: 'canary-access/7f3a+b"c\\d&e%f=<g>-0123456789',
  refresh: 'canary-refresh/91c2+b"c\\d&e%f=<g>-0123456789',
  client: 'canary-client/55d0+b"c\\d&e%f=<g>-0123456789',
  code: 'canary-code/13aa+b"c\\d&e%f=<g>-0123456789',
}

/** The ways in which somebody might have written it down, and the middle of what base64 makes of it. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const amid = [1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    return text.slice(4, -4)
  })
  const json = JSON.stringify(secret).slice(1, -1)
  const forms = [
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    json.replaceAll('/', '\\/'),
    encodeURIComponent(secret),
    new URLSearchParams({ '': secret }).toString().slice(1),
    bytes.toString('hex'),
    ...[bytes.toString('base64'), ...amid].flatMap((text) => [
      text,
      text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
    ]),
  ]
  // Also its beginning: whoever cuts a text off has not taken the secret out.
  return [...forms, secret.slice(0, 16)]
}

const FORMS = Object.entries(SECRETS).flatMap(([name, secret]) =>
  formsOf(secret).map((form) => [name, form] as const),
)

/** Which secrets are in something, in whatever form. */
function leaks(what: string | Buffer): string[] {
  return [
    ...new Set(FORMS.filter(([, form]) => what.includes(form)).map(([name, form]) => `${name}: ${form}`)),
  ]
}

function inFiles({ root }: Sandbox): string[] {
  return filesBelow(root).flatMap(({ path, bytes }) => leaks(bytes).map((leak) => `${path} ${leak}`))
}

/** What everybody on this machine may read of every process. */
function inCommands(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        return leaks(readFileSync(`/proc/${pid}/cmdline`))
      } catch {
        // It is gone by now.
        return []
      }
    })
}

/** Gives away these secrets, and takes no other token. */
async function talkative(): Promise<Hostile> {
  const server = await hostile({
    metadata: change({ token_endpoint_auth_methods_supported: ['client_secret_basic'] }),
    registration: (usual) =>
      'json' in usual
        ? {
            status: 201,
            json: { ...Object(usual.json), client_secret: SECRETS.client, client_secret_expires_at: 0 },
          }
        : undefined,
    authorize: (usual) => {
      if (!('redirect' in usual)) return undefined
      const url = new URL(usual.redirect)
      url.searchParams.set('code', SECRETS.code)
      return { redirect: url.href }
    },
    token: {
      json: {
        access_token: SECRETS.access,
        refresh_token: SECRETS.refresh,
        token_type: 'Bearer',
        expires_in: 3_600,
        scope: `mcp:use ${encodeURIComponent(SECRETS.access)}`,
      },
    },
  })
  server.tokens.add(SECRETS.access)
  return server
}

/** As somebody says it who wants it to be heard. */
function spoken(secrets: readonly string[]): string {
  const forms = [
    (text: string) => text,
    (text: string) => Buffer.from(text).toString('base64'),
    encodeURIComponent,
  ]
  return forms.flatMap((form) => secrets.map(form)).join(' ')
}

// The code is over once it was redeemed, and known only to who did that.
const said = spoken([SECRETS.access, SECRETS.refresh, SECRETS.client])
const saidAtOnce = spoken(Object.values(SECRETS))

/** Answers to calls of a tool in which the server tells what it knows. */
const ECHOES: ((id: unknown) => Hostile['overrides']['mcp'])[] = [
  (id) => ({ json: { jsonrpc: '2.0', id, error: { code: -32000, message: said, data: { said } } } }),
  () => ({ status: 500, text: said, headers: { 'content-type': 'text/plain' } }),
  () => ({ status: 400, json: { error: said } }),
  () => ({ status: 404, text: `<html>${said}` }),
  () => ({
    status: 401,
    text: said,
    headers: {
      'www-authenticate': `Bearer error="${encodeURIComponent(said)}", scope="${encodeURIComponent(SECRETS.access)}"`,
    },
  }),
  () => ({
    status: 403,
    text: said,
    headers: {
      'www-authenticate': `Bearer error="insufficient_scope", scope="${encodeURIComponent(SECRETS.access)}"`,
    },
  }),
  () => ({ redirect: `http://127.0.0.1:1/?token=${encodeURIComponent(SECRETS.access)}` }),
  () => ({ text: said }),
  (id) => ({
    json: { jsonrpc: '2.0', id, result: { isError: true, content: [{ type: 'text', text: said }] } },
  }),
]

function echoing(server: Hostile, echo: (id: unknown) => Hostile['overrides']['mcp']): void {
  server.overrides.mcp = (usual, asked) => {
    if (!asked.body.includes('"tools/call"')) return undefined
    const made = echo(JSON.parse(asked.body).id)
    return typeof made === 'function' ? made(usual, asked) : made
  }
}

test('[C6] attack D13: no token is in a file, a log, a record, an answer of the API or a process’s words, whatever the server says', async () => {
  const { sandbox } = place()
  const server = await talkative()
  const config = configured(sandbox, { url: server.mcpUrl, timeouts: { health: 0 } })
  const gateway = await up(sandbox, config, { user: true })
  const ask = owner(sandbox, gateway)
  const events = await readEvents(sandbox, gateway)
  const found: string[] = []
  const look = (where: string, what: string) => found.push(...leaks(what).map((leak) => `${where} ${leak}`))
  look('login', JSON.stringify(await signedIn(sandbox)))
  await until(async () => (await ask('GET /api/servers')).answer.servers[0].status === 'connected')
  for (const [index, echo] of ECHOES.entries()) {
    echoing(server, echo)
    const { stdout, stderr } = await sandbox.run(['call', 'vault/echo', 'text=hi', '--json'])
    // What a server answers is for whoever asked it; what we say of it, and keep of it, is ours.
    const isAnswer = index === 0 || index === ECHOES.length - 1
    if (!isAnswer) look(`busbar call ${index}`, stderr + stdout)
    const { error } = await gateway.ask('vault', 'tools/call', { name: 'echo', arguments: { text: 'hi' } })
    if (!isAnswer) look(`gateway ${index}`, JSON.stringify(error ?? {}))
    look(`api ${index}`, JSON.stringify((await ask('GET /api/servers')).answer))
    found.push(...inCommands())
  }
  server.overrides.mcp = { status: 500, text: said }
  for (const args of [['list', '--check'], ['doctor'], ['usage'], ['secrets', 'list'], ['restart', 'vault']])
    for (const form of [[], ['--json']]) {
      const { stdout, stderr } = await sandbox.run([...args, ...form])
      look(args.join(' '), stdout + stderr)
    }
  for (const path of ['calls', 'servers', 'usage', 'usage/totals', 'agents', 'tools?agent=ada'])
    look(`api ${path}`, JSON.stringify((await ask(`GET /api/${path}`)).answer))
  const started = await ask('POST /api/servers/vault/login')
  look('api login', JSON.stringify(started.answer))
  look('events', JSON.stringify(events.events))
  look('stderr', gateway.stderr())
  await gateway.end('SIGTERM')
  look('stderr', gateway.stderr())
  expect([...new Set([...found, ...inFiles(sandbox)])]).toEqual([])
  // It did hear of them: the test is about something.
  expect(JSON.stringify(server.at('mcp').map(({ headers }) => headers.authorization))).toContain(
    'canary-access',
  )
})

for (const [what, overrides] of [
  [
    'a refusal of the code',
    {
      token: {
        status: 400,
        json: { error: saidAtOnce, error_description: saidAtOnce, error_uri: saidAtOnce },
      },
    },
  ],
  ['a page instead of tokens', { token: { status: 200, text: saidAtOnce } }],
  ['an error of the token endpoint', { token: { status: 500, text: saidAtOnce } }],
  ['a refusal in the browser', { authorize: 'refused' }],
  [
    'a refusal to register',
    { registration: { status: 400, json: { error: saidAtOnce, error_description: saidAtOnce } } },
  ],
] as const)
  test(`[C6] attack D13: ${what} is told without what is secret in it`, async () => {
    const { sandbox, open } = place()
    const server = await talkative()
    if ('authorize' in overrides)
      server.overrides.authorize = (usual) => {
        if (!('redirect' in usual)) return undefined
        const url = new URL(usual.redirect)
        url.searchParams.set('error', saidAtOnce)
        url.searchParams.set('error_description', saidAtOnce)
        return { redirect: url.href }
      }
    else Object.assign(server.overrides, overrides)
    // Known from an earlier time: what was never known cannot be taken out.
    const before = await open({ servers: { vault: { url: (await talkative()).mcpUrl } } }, { start: false })
    await before.servers.login('vault', { onSignIn: async ({ url }) => void (await browse(url)) })
    const hub = await open({ servers: { vault: { url: server.mcpUrl } } }, { start: false })
    const fault = await faultOf(
      hub.servers.login('vault', { onSignIn: async ({ url }) => void (await browse(url)) }),
    )
    expect(leaks(`${fault.message} ${fault.hint} ${JSON.stringify(fault.details ?? {})}`)).toEqual([])
    expect(inFiles(sandbox)).toEqual([])
  })
