// A person signs in at the command line, against a real authorization server.

import { expect, test } from 'vitest'
import { browse } from '../servers/oauth/browse.ts'
import { place, until } from './hub.ts'
import { authorization, browser, configured, filesBelow, isListening, signedIn, waiting } from './sign-in.ts'

test('[C6] one command opens the browser, and from then on the server is used', async () => {
  const { sandbox } = place()
  const real = await authorization()
  configured(sandbox, { url: real.mcpUrl })
  const before = await sandbox.run(['call', 'vault/whoami', '--json'])
  expect([before.code, before.error]).toEqual([
    3,
    expect.objectContaining({ code: 'AUTH_REQUIRED', hint: 'run: busbar login vault' }),
  ])
  const listed = await sandbox.run(['list', '--check', '--json'])
  expect(listed.json.servers).toMatchObject([
    { name: 'vault', status: 'needs-auth', hint: 'run: busbar login vault' },
  ])

  const { env, opened, visit } = await browser()
  const { code, stdout, stderr } = await sandbox.run(['login', 'vault'], { env })
  expect([code, (await visit()).text]).toEqual([
    0,
    expect.stringContaining('Signed in. You can close this window.'),
  ])
  expect(stdout).toContain(`Signed in to vault (${real.issuer}).`)
  expect(stdout).toContain('Rights: mcp:use')
  expect(stdout).toContain('The token renews itself.')
  expect(stdout).toContain('It offers 3 tools.')
  expect(stderr).toContain('Signing in to vault in your browser')
  const [call, ...others] = await opened()
  expect([call?.program, call?.args.length, others]).toEqual(['xdg-open', 1, []])
  const asked = real.authorizations[0]
  expect(asked).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    resource: real.mcpUrl,
    scope: expect.stringContaining('mcp:use'),
    redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
  })
  expect(real.registrations).toMatchObject([
    {
      status: 201,
      metadata: { client_name: 'Busbar', application_type: 'native', token_endpoint_auth_method: 'none' },
    },
  ])
  expect(real.tokenRequests).toMatchObject([
    {
      grant: 'authorization_code',
      status: 200,
      form: { resource: real.mcpUrl, code_verifier: expect.any(String) },
    },
  ])
  expect(await isListening(asked?.['redirect_uri'] ?? '')).toBe(false)

  const who = await sandbox.run(['call', 'vault/whoami', '--json'])
  expect(JSON.parse(who.json.content[0].text)).toMatchObject({ subject: 'ada', scopes: ['mcp:use'] })
  expect((await sandbox.run(['list', '--check', '--json'])).json.servers).toMatchObject([
    { status: 'connected' },
  ])
  expect(real.tokenRequests).toHaveLength(1)
})

test('[C6] attack D17: a machine without a keyring keeps the token in a sealed file, and says so, once', async () => {
  const { sandbox } = place()
  const real = await authorization()
  configured(sandbox, { url: real.mcpUrl })
  const { env } = await browser()
  const first = await sandbox.run(['login', 'vault'], { env })
  expect([first.code, first.stderr]).toEqual([0, expect.stringMatching(/keyring .*file/s)])
  const again = await sandbox.run(['login', 'vault'], { env })
  expect([again.code, again.stderr.includes('keyring')]).toEqual([0, false])
  const tokens = real.mcpRequests.flatMap(({ token = [] }) => token)
  expect(tokens.length).toBeGreaterThan(0)
  for (const { path, bytes } of filesBelow(sandbox.root))
    expect([path, tokens.some((token) => bytes.includes(token))]).toEqual([path, false])
})

test('[C6] attack D16: a token that was damaged is said to be, and signing in again mends it', async () => {
  const { sandbox } = place()
  const real = await authorization()
  configured(sandbox, { url: real.mcpUrl })
  await signedIn(sandbox)
  const file = `${sandbox.home}/.local/state/busbar/secrets.json`
  const damaged = sandbox
    .read(file)
    .replace(/("data": ?"[^"]{8})(.)/g, (_, start, letter) => start + (letter === 'A' ? 'B' : 'A'))
  expect(damaged).not.toBe(sandbox.read(file))
  sandbox.write(file, damaged, 0o600)
  const refused = await sandbox.run(['call', 'vault/whoami', '--json'])
  expect(refused.error).toMatchObject({ code: 'SECRET_DAMAGED', hint: 'give it again: busbar login vault' })
  await signedIn(sandbox)
  expect((await sandbox.run(['call', 'vault/whoami'])).code).toBe(0)
})

test('[C6] without a screen the address is shown, and where the browser ended can be pasted, also after a wrong paste', async () => {
  const { sandbox } = place()
  const real = await authorization()
  configured(sandbox, { url: real.mcpUrl })
  const { env, opened } = await browser()
  const { child, url, redirect, stderr, stdout, code } = await waiting(sandbox, ['--no-browser'], env)
  expect(stderr()).toContain(
    'To sign in to vault, open this address in a browser, on this machine or any other:',
  )
  const end = await browse(url, { user: 'grace', unreachable: redirect })
  child.stdin?.write(`${redirect}?code=made-up&state=made-up\n\n`)
  await until(() => stderr().includes('that is not the address of this sign-in'))
  expect([child.exitCode, real.tokenRequests]).toEqual([null, []])
  child.stdin?.write(`  ${end.url}\n`)
  expect([await code, stdout()]).toEqual([0, expect.stringContaining('Signed in to vault')])
  expect(await opened()).toEqual([])
  const who = await sandbox.run(['call', 'vault/whoami', '--json'])
  expect(JSON.parse(who.json.content[0].text).subject).toBe('grace')
})

test('[C6] without a screen a browser on this machine comes back by itself, and the end of stdin ends nothing', async () => {
  const { sandbox } = place()
  const real = await authorization()
  configured(sandbox, { url: real.mcpUrl })
  const { child, url, code } = await waiting(sandbox)
  child.stdin?.end()
  expect((await browse(url)).text).toContain('Signed in.')
  expect(await code).toBe(0)
})

test('[C6] somebody else at the door is sent away, and the browser is let in afterwards', async () => {
  const { sandbox } = place()
  const real = await authorization()
  configured(sandbox, { url: real.mcpUrl })
  const { url, redirect, code } = await waiting(sandbox)
  const state = new URL(url).searchParams.get('state')
  for (const [address, init] of [
    [`${redirect}?code=stolen&state=guessed`, {}],
    [`${redirect}?error=access_denied&state=guessed`, {}],
    [`${new URL(redirect).origin}/?code=stolen&state=${state}`, {}],
    [`${redirect}?code=stolen&state=${state}`, { method: 'POST' }],
  ] as const)
    expect((await fetch(address, init)).status).toBe(400)
  expect((await browse(url)).status).toBe(200)
  expect(await code).toBe(0)
  expect(real.tokenRequests).toMatchObject([{ status: 200 }])
})

test('[C6] on another device, with a code', async () => {
  const { sandbox } = place()
  const real = await authorization()
  configured(sandbox, { url: real.mcpUrl })
  const { url, stderr, stdout, code } = await waiting(sandbox, ['--device'])
  const shown = await until(() => /type in the code: (\S+)/.exec(stderr())?.[1])
  expect(url).toContain(shown)
  expect((await browse(url, { user: 'hedy' })).text).toContain('You are signed in on your device.')
  expect([await code, stdout()]).toEqual([0, expect.stringContaining('Signed in to vault')])
  const who = await sandbox.run(['call', 'vault/whoami', '--json'])
  expect(JSON.parse(who.json.content[0].text).subject).toBe('hedy')
})

test('[C6] on another device, declined; and where it is not offered', async () => {
  const { sandbox } = place()
  const real = await authorization()
  configured(sandbox, { url: real.mcpUrl, auth: { type: 'oauth', grant: 'device_code' } })
  const { url, stderr, code } = await waiting(sandbox)
  // The provider then asks for another code, again and again.
  await expect(browse(url, { deny: true })).rejects.toThrow('no end')
  expect([await code, stderr()]).toEqual([1, expect.stringContaining('access_denied')])
  const without = await authorization({ device: false })
  configured(sandbox, { url: without.mcpUrl })
  const refused = await sandbox.run(['login', 'vault', '--device', '--json'])
  expect([refused.code, refused.error]).toEqual([
    1,
    expect.objectContaining({ code: 'SIGN_IN_FAILED', hint: expect.stringContaining('--no-browser') }),
  ])
})

test('[C6] programs get one line for what a person has to do, and one answer', async () => {
  const { sandbox } = place()
  const real = await authorization()
  configured(sandbox, { url: real.mcpUrl })
  const { url, stderr, stdout, code } = await waiting(sandbox, ['--json'])
  expect(JSON.parse(stderr())).toEqual({ signIn: { server: 'vault', url, expires: expect.any(String) } })
  await browse(url)
  expect(await code).toBe(0)
  expect(JSON.parse(stdout())).toMatchObject({
    login: {
      server: 'vault',
      issuer: real.issuer,
      scopes: expect.arrayContaining(['mcp:use']),
      expires: expect.stringMatching(/^\d{4}-/),
      renews: true,
    },
    status: 'connected',
  })
})

test('[C6] Ctrl-C ends it at once, and neither a process nor a listener is left', async () => {
  const { sandbox } = place()
  const real = await authorization()
  configured(sandbox, { url: real.mcpUrl })
  const { child, url, redirect, code, stdout } = await waiting(sandbox)
  expect(await isListening(redirect)).toBe(true)
  child.kill('SIGINT')
  expect([await code, stdout()]).toEqual([130, ''])
  expect(await isListening(redirect)).toBe(false)
  await expect(browse(url)).rejects.toThrow()
  expect(real.tokenRequests).toEqual([])
  const device = await waiting(sandbox, ['--device'])
  device.child.kill('SIGINT')
  expect(await device.code).toBe(130)
})

test('[C6] whoever declines is told so, and is not signed in', async () => {
  const { sandbox } = place()
  const real = await authorization()
  configured(sandbox, { url: real.mcpUrl })
  const { env, visit } = await browser({ visit: { deny: true } })
  const { code, error } = await sandbox.run(['login', 'vault'], { env }).then(({ code, stderr }) => ({
    code,
    error: stderr,
  }))
  expect([code, error]).toEqual([1, expect.stringContaining('access_denied')])
  expect((await visit()).text).toContain('This did not work.')
  expect(real.tokenRequests).toEqual([])
  expect((await sandbox.run(['call', 'vault/whoami'])).code).toBe(3)
})

test('[C6] a tool that needs more says by which command, which asks for it on top', async () => {
  const { sandbox } = place()
  const real = await authorization()
  configured(sandbox, { url: real.mcpUrl })
  await signedIn(sandbox)
  const refused = await sandbox.run(['call', 'vault/admin', '--json'])
  const hint = 'run: busbar login vault --scope "mcp:admin"'
  expect([refused.code, refused.error]).toEqual([3, expect.objectContaining({ code: 'AUTH_REQUIRED', hint })])
  const { login } = await signedIn(sandbox, ['--scope', 'mcp:admin'])
  expect(login.scopes).toEqual(expect.arrayContaining(['mcp:use', 'mcp:admin']))
  expect((await sandbox.run(['call', 'vault/admin'])).stdout).toContain('done')
  expect((await sandbox.run(['call', 'vault/whoami'])).code).toBe(0)
})

test('[C6] attack D18: signing out takes the token back, erases it, and says when there is none', async () => {
  const { sandbox } = place()
  const real = await authorization()
  configured(sandbox, { url: real.mcpUrl })
  await signedIn(sandbox)
  const state = `${sandbox.home}/.local/state/busbar/secrets.json`
  expect(sandbox.read(state)).toContain('server:vault')
  const { code, stdout } = await sandbox.run(['logout', 'vault'])
  expect([code, stdout]).toEqual([0, 'Signed out of vault: its tokens are erased.\n'])
  expect(real.revocations).toMatchObject([{ hint: 'refresh_token', status: 200 }, { hint: 'access_token' }])
  expect(sandbox.read(state)).not.toContain('server:vault')
  expect((await sandbox.run(['call', 'vault/whoami'])).code).toBe(3)
  const again = await sandbox.run(['logout', 'vault', '--json'])
  expect([again.code, again.error]).toMatchObject([1, { code: 'USAGE' }])
})

test('[C6] attack D18: a token is erased also where nobody takes it back, and with the server that it is for', async () => {
  const { sandbox } = place()
  const real = await authorization()
  configured(sandbox, { url: real.mcpUrl })
  await signedIn(sandbox)
  real.fail('revocation', 503, 2)
  const out = await sandbox.run(['logout', 'vault', '--json'])
  expect(out.json).toEqual({ server: 'vault', accounts: [{ isRevoked: false }] })
  await signedIn(sandbox)
  const { code, stdout } = await sandbox.run(['remove', 'vault'])
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining('You are signed out of it: its tokens are erased.'),
  ])
  expect(real.revocations.at(-2)).toMatchObject({ hint: 'refresh_token', status: 200 })
  expect(sandbox.read(`${sandbox.home}/.local/state/busbar/secrets.json`)).not.toContain('vault')
})
