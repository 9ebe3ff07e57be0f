// Secrets under a passphrase. Every guess at one takes as long as it is meant to, so these are not among the unit tests.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSecrets } from '../../src/secrets/secrets.ts'
import { codeOf, edit, fresh } from '../../src/secrets/testing.ts'

test('a head that names another key, or an older format, is refused, and nothing is written over it [C11]', async () => {
  const { open, file, places } = fresh()
  const secrets = await open({ BUSBAR_PASSPHRASE: 'correct horse' })
  await secrets.put('secret', 'A', 'a')
  const whole = readFileSync(file)
  const changes: [Record<string, unknown>, string][] = [
    [{ key: 'key-file', salt: undefined }, 'SECRETS_LOCKED'],
    [{ key: 'keyring', salt: undefined }, 'SECRETS_LOCKED'],
    [{ salt: Buffer.alloc(16).toString('base64url') }, 'SECRETS_LOCKED'],
    [{ id: '0000000000000000' }, 'SECRETS_LOCKED'],
    [{ format: 0 }, 'STATE_REFUSED'],
    [{ format: 2 }, 'STORE_NEWER'],
    [{ key: 'none' }, 'STATE_REFUSED'],
  ]
  for (const [change, code] of changes) {
    edit(file, ({ head }) => Object.assign(head, change))
    const changed = readFileSync(file)
    expect(codeOf(() => secrets.get('secret', 'A'))).toBe(code)
    await expect(secrets.put('secret', 'B', 'b')).rejects.toMatchObject({ code })
    await expect(secrets.protect('key-file')).rejects.toMatchObject({ code })
    expect(readFileSync(file).equals(changed)).toBe(true)
    writeFileSync(file, whole)
  }
  expect(secrets.get('secret', 'A')?.value).toBe('a')
  expect(readdirSync(places.config).filter((it) => it.endsWith('.key'))).toEqual([])
})

test('a passphrase opens the file, from the environment or a file, however its letters are written; another does not', async () => {
  const { open, env, places } = fresh()
  const secrets = await open({ BUSBAR_PASSPHRASE: 'gr\u00fcn' })
  await secrets.put('secret', 'A', 'a')
  expect(secrets.protection).toBe('passphrase')
  const given = join(env['HOME'] ?? '', 'passphrase')
  writeFileSync(given, 'gru\u0308n\n')
  const same = await openSecrets(places, { ...env, BUSBAR_PASSPHRASE_FILE: given })
  expect(same.get('secret', 'A')?.value).toBe('a')
  const other = await open({ BUSBAR_PASSPHRASE: 'blau' })
  expect(() => other.get('secret', 'A')).toThrow(/made with another key/)
  const none = await open()
  expect(() => none.get('secret', 'A')).toThrow(/none is given/)
  await expect(none.put('secret', 'A', 'b')).rejects.toMatchObject({ code: 'SECRETS_LOCKED' })
  // The right one is found when somebody opens the secrets again.
  const late = join(env['HOME'] ?? '', 'late')
  writeFileSync(late, 'wrong')
  const first = await open({ BUSBAR_PASSPHRASE_FILE: late })
  expect(() => first.get('secret', 'A')).toThrow(/another key/)
  writeFileSync(late, 'gr\u00fcn')
  expect((await open({ BUSBAR_PASSPHRASE_FILE: late })).get('secret', 'A')?.value).toBe('a')
})

test('moves to another key and back, seen by whoever has it open; the old key goes, versions stay', async () => {
  const { open, places } = fresh()
  const PASSPHRASE = { BUSBAR_PASSPHRASE: 'pass' }
  const keys = () => readdirSync(places.config).filter((it) => it.endsWith('.key'))
  const mover = await open(PASSPHRASE)
  const version = await mover.put('secret', 'A', 'a')
  const reader = await open({ ...PASSPHRASE, XDG_RUNTIME_DIR: '/nowhere' })
  expect(reader.get('secret', 'A')?.value).toBe('a')
  expect(await mover.protect('key-file')).toBeUndefined()
  expect(keys()).toHaveLength(1)
  expect(reader.get('secret', 'A')).toEqual({ value: 'a', version })
  const before = keys()
  await mover.protect('key-file')
  expect(keys()).toHaveLength(1)
  expect(keys()).not.toEqual(before)
  await mover.protect('passphrase')
  expect(keys()).toEqual([])
  expect(reader.get('secret', 'A')).toEqual({ value: 'a', version })
  await mover.protect('passphrase', 'another')
  expect(() => reader.get('secret', 'A')).toThrow(/another key/)
  await expect(mover.protect('keyring')).rejects.toMatchObject({ code: 'SECRETS_LOCKED' })
  expect((await open({ BUSBAR_PASSPHRASE: 'another' })).get('secret', 'A')?.value).toBe('a')
})
