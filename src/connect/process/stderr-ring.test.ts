import { expect, test } from 'vitest'
import { scrubber } from '../../base/redact.ts'
import { stageNode, until } from './staging.ts'
import { StderrRing } from './stderr-ring.ts'

function ringOf(...chunks: (string | Uint8Array)[]): StderrRing {
  const ring = new StderrRing()
  for (const chunk of chunks) ring.write(Buffer.from(chunk))
  return ring
}

test('gives the last lines, and an empty text when nothing was written', () => {
  expect(new StderrRing().tail(5)).toBe('')
  expect(ringOf('one\ntwo\nth', 'ree\n').tail(2)).toBe('two\nthree')
})

test('keeps the end of a long text, from the start of a line', () => {
  const ring = new StderrRing()
  for (let line = 0; line < 100_000; line++) ring.write(Buffer.from(`line ${line} é\n`))
  const kept = ring.tail(100_000).split('\n')
  expect(kept.at(-1)).toBe('line 99999 é')
  expect(kept[0]).toMatch(/^line \d+ é$/)
  expect(kept.length).toBeGreaterThan(15_000)
  expect(kept.join('\n').length).toBeLessThan(256 * 1024)
})

test('a chunk larger than the ring, and one endless line, are kept by their end', () => {
  expect(ringOf('a\n', `${'x'.repeat(300_000)}\nend\n`).tail(1)).toBe('end')
  expect(ringOf('y'.repeat(300_000)).tail(1)).toBe(`${'y'.repeat(2000)}…`)
})

test('terminal commands and controls are taken out; progress bars show their last state', () => {
  expect(ringOf('\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain\x1b]8;;http://x\x1b\\link\x1b(B').tail(1)).toBe(
    'red plainlink',
  )
  expect(ringOf('\u009b31mred\u0007\u202eevil').tail(1)).toBe('redevil')
  expect(ringOf(' 10%\r 50%\r100%\r\ndone\r\n').tail(2)).toBe('100%\ndone')
  expect(ringOf('cut off \x1b[38;5').tail(1)).toBe('cut off')
})

const KEY_LINES = Array.from({ length: 30 }, (_, line) => `${line}aB3cD5eF7gH9`.repeat(5).slice(0, 64))
const PEM = ['-----BEGIN PRIVATE KEY-----', ...KEY_LINES, '-----END PRIVATE KEY-----'].join('\n')

test('a key of more lines than are shown is masked, whether it is known or not [C11]', () => {
  const [first = '', ...others] = KEY_LINES
  const unseen = (text: string) =>
    expect([...others, first].filter((line) => text.includes(line))).toEqual([])
  const shown = ringOf(`start\n${PEM}\nend\n`).tail(20)
  unseen(shown)
  expect(shown).toBe('start\n••••••\nend')
  // Still being written.
  unseen(ringOf(PEM.slice(0, -200)).tail(20))
  // Its beginning is gone.
  unseen(ringOf(`${PEM.slice(100)}\nend\n`).tail(20))
  const file = `{\n${'  "name": "value",\n'.repeat(30)}  "secret": "no form of a key"\n}`
  const scrub = scrubber([file])
  expect(ringOf(`read ${file}\nend\n`).tail(20, scrub)).toBe('read ••••••\nend')
  expect(ringOf(`read ${file}\nend\n`.replaceAll('\n', '\r\n')).tail(20, scrub)).toBe('read ••••••\nend')
})

test('a secret is masked wherever a line is cut, and whatever its letters are set apart by [C11]', () => {
  const secret = 'S3cretValue-of-which-no-part-may-be-seen'
  const scrub = scrubber([secret])
  for (let before = 1950; before < 2010; before++)
    expect(ringOf(`${'x'.repeat(before)}${secret} end\n`).tail(1, scrub)).not.toContain('S3')
  const colored = [...secret].join('\x1b[31m')
  expect(ringOf(`a ${colored} b ${[...secret].join('\x00')} c\n`).tail(1, scrub)).toBe('a •••••• b •••••• c')
  const form = `ghp_${'aB3'.repeat(12)}`
  for (let before = 1950; before < 2010; before++)
    expect(ringOf(`${'x'.repeat(before)} ${form} end\n`).tail(1)).not.toContain('ghp_')
})

test('a secret that has lost its beginning is not shown, where the ring ends or anywhere near [C11]', () => {
  const secret = 'S3cret-'.repeat(100)
  const scrub = scrubber([secret])
  const size = 256 * 1024
  for (const lost of [1, 350, 699, 20_000, 32_000, 32_500, 32_768, 33_100, 33_468, 40_000]) {
    const before = `${'y'.repeat(lost)}${secret}`
    const text = `${before}${'x'.repeat(size + 350 - before.length)}`
    expect(ringOf('z'.repeat(99), text).tail(20, scrub)).not.toContain('S3cret')
  }
})

test('bytes that are no UTF-8 do no harm', () => {
  expect(ringOf(new Uint8Array([0x6f, 0x6b, 0xff, 0xc3])).tail(1)).toBe('ok\ufffd\ufffd')
})

test('hostile text takes linear time', () => {
  for (const text of [
    '\r',
    '\x1b[',
    '\x1b]',
    ' ',
    '\x1b[0',
    'x',
    '\x9b;',
    '\n',
    'S3cre',
    '-----END ',
    'aB3/',
  ]) {
    const ring = ringOf(text.repeat(256 * 1024))
    const start = performance.now()
    ring.tail(20, scrubber(['S3cretValue']))
    expect(performance.now() - start).toBeLessThan(500)
  }
})

test('a flood is taken at a bounded pace, and the server does not wait for a reader', async (scope) => {
  const { server, line } = await stageNode(
    scope,
    `
    const { writeSync } = require('node:fs')
    const chunk = Buffer.alloc(65536, 'flood\\n')
    for (let sent = 0; sent < 40e6; sent += chunk.length) {
      for (let at = 0; at < chunk.length; )
        try { at += writeSync(2, chunk, at) } catch (error) { if (error.code !== 'EAGAIN') throw error }
    }
    writeSync(2, '\\nlast words\\n')
    console.log('through')
    process.stdin.resume()
  `,
  )
  const start = performance.now()
  expect(await line()).toBe('through')
  const seconds = (performance.now() - start) / 1000
  await until(() => server.stderrTail(1) === 'last words')
  // Throttled to 50 MB a second, so that it cannot take less than that, however fast the machine is.
  expect(seconds).toBeGreaterThan(0.6)
  await server.close()
})
