// Secrets whose key is in a real keyring, and what happens where one is absent, hangs or goes away.

import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { placesOf } from '../../src/base/places.ts'
import { openSecrets } from '../../src/secrets/secrets.ts'
import { serverCommand } from '../servers/start.ts'
import { startKeyring } from '../services/keyring.ts'
import type { Sandbox } from './cli.ts'
import { type Answer, place, userFile } from './hub.ts'

const plain = serverCommand('plain')
const CONFIG = { servers: { plain: { ...plain, env: { GIVEN: '${secret:NAME}' } }, none: plain } }

function home(): Sandbox {
  const { sandbox } = place()
  sandbox.write(userFile(sandbox), JSON.stringify(CONFIG))
  return sandbox
}

/** Where the key is, and why it is not in the keyring. */
function placeOf({ protection, because }: Answer): (string | undefined)[] {
  return [protection, because]
}

async function set(sandbox: Sandbox, input: string, env: Record<string, string>): Promise<Answer> {
  const { code, stderr, json } = await sandbox.run(['secrets', 'set', 'NAME', '--json'], { input, env })
  expect([code, stderr]).toEqual([0, ''])
  return json
}

function keyFiles(folder: string): string[] {
  return readdirSync(folder).filter((name) => /^secrets-.*\.key$/.test(name))
}

test('[C11] the key is in the keyring where one answers; when that is gone nothing is opened or begun anew, until it is back', async () => {
  const sandbox = home()
  const keyring = await startKeyring(sandbox.home)
  const { env } = keyring
  expect(placeOf(await set(sandbox, 'the value', env))).toEqual(['keyring', undefined])
  expect(keyFiles(join(sandbox.home, '.config/busbar'))).toEqual([])
  expect((await sandbox.run(['secrets'], { env })).stdout).toContain(
    'The key is in the keyring of this system.',
  )
  expect((await sandbox.run(['call', 'plain/env'], { env })).stdout).toContain('the value')
  // A second home has a key of its own.
  const second = { ...env, BUSBAR_HOME: join(sandbox.home, 'second') }
  expect(placeOf(await set(sandbox, 'another value', second))).toEqual(['keyring', undefined])
  expect((await sandbox.run(['secrets', '--json'], { env })).json.secrets).toHaveLength(1)

  await keyring.stop()
  const file = join(sandbox.home, '.local/state/busbar/secrets.json')
  const before = readFileSync(file)
  // Without a bus there is nobody to ask, whoever could start the daemon.
  const gone = {}
  const locked = await sandbox.run(['call', 'plain/env', '--json'], { env: gone })
  expect([locked.code, locked.error.code]).toEqual([1, 'SECRETS_LOCKED'])
  expect(locked.error.message).toContain('the keyring of this system cannot be used')
  const refused = await sandbox.run(['secrets', 'set', 'OTHER', '--json'], { input: 'x', env: gone })
  expect([refused.code, refused.error.code]).toEqual([1, 'SECRETS_LOCKED'])
  expect(readFileSync(file).equals(before)).toBe(true)
  expect((await sandbox.run(['call', 'none/pid'], { env: gone })).code).toBe(0)
  const doctor = await sandbox.run(['doctor', '--no-start', '--json'], { env: gone })
  expect(doctor.error.code).toBe('SECRETS_LOCKED')

  await keyring.start()
  expect((await sandbox.run(['call', 'plain/env'], { env })).stdout).toContain('the value')
})

test('[C11] the key moves from a file to the keyring and back, and what it leaves is empty', async () => {
  const sandbox = home()
  const { env } = await startKeyring(sandbox.home)
  const config = join(sandbox.home, '.config/busbar')
  expect(await set(sandbox, 'the value', {})).toMatchObject({ protection: 'key-file' })
  const moved = await sandbox.run(['secrets', 'protect', 'keyring', '--json'], { env })
  expect([moved.code, moved.json]).toMatchObject([0, { protection: 'keyring', sealed: 1 }])
  expect(keyFiles(config)).toEqual([])
  expect((await sandbox.run(['secrets', '--json'])).error.code).toBe('SECRETS_LOCKED')
  const back = await sandbox.run(['secrets', 'protect', 'file', '--json'], { env })
  expect([back.code, back.json, back.stderr]).toMatchObject([0, { protection: 'key-file' }, ''])
  expect(keyFiles(config)).toHaveLength(1)
  expect((await sandbox.run(['call', 'plain/env'])).stdout).toContain('the value')
})

test('[C11] who has secrets open goes on when their key moves to the keyring, and notices when it is gone', async () => {
  const sandbox = home()
  const keyring = await startKeyring(sandbox.home)
  const env = sandbox.env(keyring.env)
  const places = placesOf(env)
  // Another passphrase, which nothing here needs, makes it another object than the one that moves the key.
  const reader = await openSecrets(places, { ...env, BUSBAR_PASSPHRASE: 'not needed' })
  const mover = await openSecrets(places, env)
  await mover.put('secret', 'NAME', 'the value')
  expect([mover.kept, mover.because]).toEqual(['keyring', undefined])
  expect(reader.get('secret', 'NAME')?.value).toBe('the value')
  await mover.protect('key-file')
  expect(reader.get('secret', 'NAME')?.value).toBe('the value')
  await mover.protect('keyring')
  expect(reader.get('secret', 'NAME')?.value).toBe('the value')
  await keyring.stop()
  // It knows the key already.
  expect(reader.get('secret', 'NAME')?.value).toBe('the value')
  const late = await openSecrets(places, { ...sandbox.env(), BUSBAR_PASSPHRASE: 'not needed either' })
  expect(() => late.get('secret', 'NAME')).toThrow(expect.objectContaining({ code: 'SECRETS_LOCKED' }))
})

test('[C11] a keyring that never answers is left alone, and that is said', async () => {
  const sandbox = home()
  const sockets = new Set<Socket>()
  // A bus that takes every connection and says nothing, as one does whose question nobody answers.
  const bus = createServer((socket) => sockets.add(socket))
  const path = join(sandbox.root, 'bus')
  await new Promise<void>((resolve) => bus.listen(path, resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    bus.close()
  })
  const env = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}` }
  expect(await set(sandbox, 'the value', env)).toMatchObject({
    protection: 'key-file',
    because: expect.stringContaining('did not answer in time'),
  })
  expect(sockets.size).toBeGreaterThan(0)
  expect((await sandbox.run(['call', 'plain/env'], { env })).stdout).toContain('the value')
})
