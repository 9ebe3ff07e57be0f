import { expect, test } from 'vitest'
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

test('bytes that are no UTF-8 do no harm', () => {
  expect(ringOf(new Uint8Array([0x6f, 0x6b, 0xff, 0xc3])).tail(1)).toBe('ok\ufffd\ufffd')
})

test('hostile text takes linear time', () => {
  for (const text of ['\r', '\x1b[', '\x1b]', ' ', '\x1b[0', 'x', '\x9b;']) {
    const ring = ringOf(text.repeat(256 * 1024))
    const start = performance.now()
    ring.tail(20)
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
