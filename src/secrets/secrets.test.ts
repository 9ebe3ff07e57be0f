import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Fault } from '../base/fault.ts'
import { EVERY } from '../base/thorough.ts'
import { describeOwner } from './owners.ts'
import type { Held } from './secrets.ts'
import { codeOf, edit, fresh } from './testing.ts'

test('keeps, gives back, lists and removes; nothing is made before the first one [C11]', async () => {
  const { open, places, file } = fresh()
  const secrets = await open()
  expect(secrets.get('secret', 'A')).toBeUndefined()
  expect(secrets.list()).toEqual([])
  expect(await secrets.remove('secret', 'A')).toBe(false)
  expect(readdirSync(places.state).filter((it) => it.startsWith('secrets.json'))).toEqual([])

  const version = await secrets.put('secret', 'A', 'the value')
  const held: Held | undefined = secrets.get('secret', 'A')
  expect(held).toEqual({ value: 'the value', version })
  expect(secrets.protection).toBe('key-file')
  expect(secrets.because).toMatch(/no session bus/)
  await secrets.put('server:x', 'tokens', '')
  expect(secrets.get('server:x', 'tokens')?.value).toBe('')
  expect(secrets.list().map(({ owner, field, damaged }) => [owner, field, damaged])).toEqual([
    ['secret', 'A', false],
    ['server:x', 'tokens', false],
  ])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).not.toContain('the value')
  const [key = ''] = readdirSync(places.config).filter((it) => it.endsWith('.key'))
  expect(statSync(join(places.config, key)).mode & 0o777).toBe(0o600)
  expect(readdirSync(places.state).some((it) => it.endsWith('.key'))).toBe(false)
  expect(await secrets.remove('secret', 'A')).toBe(true)
  expect(secrets.get('secret', 'A')).toBeUndefined()
})

test('says of each owner what is damaged and how it is given again', () => {
  const said = (owner: string, field: string) => Object.values(describeOwner(owner, field))
  expect(said('secret', 'A')).toEqual(['the secret A', undefined, 'busbar secrets set A'])
  expect(said('server:a', 'tokens')).toEqual(['what signing in to a left (tokens)', 'a', 'busbar login a'])
  expect(said('server:a#my own', 'tokens')).toEqual([
    'what signing in to a as my own left (tokens)',
    'a',
    "busbar login a --account 'my own'",
  ])
})

test('is one object for everybody in a process', async () => {
  const { open } = fresh()
  expect(await open()).toBe(await open())
})

test('takes a change only from whoever knows the newest version', async () => {
  const { open } = fresh()
  const secrets = await open()
  const first = await secrets.put('o', 'f', 'one', 0)
  expect(await secrets.put('o', 'f', 'two', 0)).toBeUndefined()
  const second = await secrets.put('o', 'f', 'two', first)
  expect(await secrets.put('o', 'f', 'three', first)).toBeUndefined()
  expect(await secrets.remove('o', 'f', first)).toBe(false)
  expect(secrets.get('o', 'f')).toEqual({ value: 'two', version: second })
})

test('never gives a version twice, not after a removal, a restored copy or a lost count', async () => {
  const { open, file } = fresh()
  const secrets = await open()
  const versions: number[] = []
  const put = async () => versions.push((await secrets.put('o', 'f', 'v')) ?? 0)
  await put()
  const copy = readFileSync(file)
  await put()
  await secrets.remove('o', 'f')
  await put()
  edit(file, (content) => (content.highest = 0))
  await put()
  writeFileSync(file, copy)
  await put()
  expect(versions).toEqual([...new Set(versions)].sort((one, other) => one - other))
})

test('an entry passed off as another, by owner, field, version, time or file, is refused; others stay readable [C11]', async () => {
  const { open, file } = fresh()
  const secrets = await open()
  await secrets.put('server:a', 'tokens', 'of a')
  await secrets.put('server:b', 'tokens', 'of b')
  await secrets.put('server:b', 'client', 'client of b')
  await secrets.put('secret', 'C', 'c')
  const whole = readFileSync(file)
  const tries: [string, (entries: Record<string, unknown>[]) => void][] = [
    ['server:a tokens', ([a, b]) => Object.assign(a ?? {}, { nonce: b?.['nonce'], data: b?.['data'] })],
    [
      'server:b tokens',
      ([, b, client]) => Object.assign(b ?? {}, { nonce: client?.['nonce'], data: client?.['data'] }),
    ],
    ['server:b tokens', ([, b]) => Object.assign(b ?? {}, { version: 7 })],
    ['server:b tokens', ([, b]) => Object.assign(b ?? {}, { changed: 7 })],
    ['server:b tokens', ([, b]) => Object.assign(b ?? {}, { data: 5 })],
  ]
  for (const [name, change] of tries) {
    edit(file, ({ entries }) => change(entries))
    const [owner = '', field = ''] = name.split(' ')
    expect(codeOf(() => secrets.get(owner, field))).toBe('SECRET_DAMAGED')
    expect(secrets.get('secret', 'C')?.value).toBe('c')
    expect(secrets.list().filter((it) => it.damaged)).toHaveLength(1)
    writeFileSync(file, whole)
  }
  const other = fresh()
  await (await other.open()).put('server:a', 'tokens', 'of another home')
  const foreign = JSON.parse(readFileSync(other.file, 'utf8')).entries
  edit(file, (content) => (content.entries = [...content.entries.slice(1), ...foreign]))
  expect(() => secrets.get('server:a', 'tokens')).toThrow(
    expect.objectContaining({ code: 'SECRET_DAMAGED', hint: 'give it again: busbar login a' }),
  )
  // Keeping another leaves the damaged one where it is; giving it again heals it.
  await secrets.put('secret', 'D', 'd')
  expect(secrets.list().filter((it) => it.damaged)).toHaveLength(1)
  await secrets.put('server:a', 'tokens', 'anew')
  expect(secrets.get('server:a', 'tokens')?.value).toBe('anew')
  expect(secrets.list().filter((it) => it.damaged)).toEqual([])
})

test('no flipped bit ever yields a wrong value, and one in an entry costs that entry only [C11]', async () => {
  const { open, file } = fresh()
  const secrets = await open()
  await secrets.put('a', 'x', 'first')
  await secrets.put('b', 'y', 'second')
  const whole = readFileSync(file)
  const text = whole.toString()
  const [first, second, end] = [
    text.indexOf('"owner": "a"'),
    text.indexOf('"owner": "b"'),
    text.lastIndexOf(']'),
  ]
  const seen = new Map<string, number>()
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  const ask = (owner: string, field: string, right: string) => {
    try {
      const value = secrets.get(owner, field)?.value
      expect([right, undefined]).toContain(value)
      return value === undefined ? 'absent' : 'right'
    } catch (error) {
      return (error as Fault).code
    }
  }
  for (let bit = 0; bit < whole.length * 8; bit += EVERY) {
    const flipped = Buffer.from(whole)
    const at = bit >> 3
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (bit & 7))
    writeFileSync(file, flipped)
    const [one, other] = [ask('a', 'x', 'first'), ask('b', 'y', 'second')]
    let parses = true
    try {
      JSON.parse(flipped.toString())
    } catch {
      parses = false
    }
    if (!parses) expect([one, other]).toEqual(['STATE_REFUSED', 'STATE_REFUSED'])
    else if (at > first && at < second - 6) expect(other).toBe('right')
    else if (at > second && at < end - 6) expect(one).toBe('right')
    count(parses ? `${one}/${other}` : 'broken')
    // Nobody repaired it behind our back.
    expect(readFileSync(file).equals(flipped)).toBe(true)
  }
  expect(seen.get('SECRET_DAMAGED/right')).toBeGreaterThan(500 / EVERY)
  expect(seen.get('right/SECRET_DAMAGED')).toBeGreaterThan(500 / EVERY)
  expect(seen.get('SECRETS_LOCKED/SECRETS_LOCKED')).toBeGreaterThan(300 / EVERY)
})

test('a key file that is gone, readable by others or of another file is a clear fault, and found again when put right', async () => {
  const { open, places } = fresh()
  const secrets = await open()
  await secrets.put('secret', 'A', 'a')
  const [name = ''] = readdirSync(places.config).filter((it) => it.endsWith('.key'))
  const key = join(places.config, name)
  const text = readFileSync(key)
  const again = (number: number) => open({ XDG_RUNTIME_DIR: `/nowhere/${number}` })
  rmSync(key)
  const opened = await again(1)
  expect(() => opened.get('secret', 'A')).toThrow(expect.objectContaining({ code: 'SECRETS_LOCKED' }))
  await expect(opened.put('secret', 'B', 'b')).rejects.toMatchObject({ code: 'SECRETS_LOCKED' })
  writeFileSync(key, text, { mode: 0o600 })
  expect((await again(1)).get('secret', 'A')?.value).toBe('a')
  chmodSync(key, 0o640)
  const readable = await again(2)
  expect(() => readable.get('secret', 'A')).toThrow(/can be read by other users/)
  chmodSync(key, 0o600)
  writeFileSync(key, `${'0'.repeat(64)}\n`)
  const wrong = await again(3)
  expect(() => wrong.get('secret', 'A')).toThrow(/another key/)
  writeFileSync(key, text)
  expect((await again(3)).get('secret', 'A')?.value).toBe('a')
})

test('a damaged entry stops the move to another key, and nothing changes', async () => {
  const { open, file, places } = fresh()
  const secrets = await open()
  await secrets.put('secret', 'A', 'a')
  edit(file, ({ entries }) => Object.assign(entries[0] ?? {}, { version: 99 }))
  const before = readFileSync(file)
  await expect(secrets.protect('key-file')).rejects.toMatchObject({ code: 'SECRET_DAMAGED' })
  expect(readFileSync(file).equals(before)).toBe(true)
  expect(readdirSync(places.config).filter((it) => it.endsWith('.key'))).toHaveLength(1)
})

test('works for one owner come one after the other; another owner does not wait', async () => {
  const { open } = fresh()
  const secrets = await open()
  const order: string[] = []
  let resolve = () => {}
  const promise = new Promise<void>((done) => (resolve = done))
  const first = secrets.exclusively('server:a', async () => {
    order.push('first begins')
    await promise
    order.push('first ends')
  })
  const second = secrets.exclusively('server:a', async () => order.push('second'))
  await secrets.exclusively('server:b', async () => order.push('other'))
  const stop = new AbortController()
  const third = secrets.exclusively('server:a', async () => order.push('third'), { signal: stop.signal })
  stop.abort()
  await expect(third).rejects.toThrow()
  resolve()
  await Promise.all([first, second])
  expect(order).toEqual(['first begins', 'other', 'first ends', 'second'])
})
