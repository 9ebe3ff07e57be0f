import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { open } from './http/test-rig.ts'
import { openStdio } from './stdio.ts'

/** What is told of a server that prints this and ends with its input. */
async function printing(text: string) {
  const print = `process.stdout.write(${JSON.stringify(text)}); process.stdin.resume()`
  return await open(
    openStdio({
      server: 'files',
      command: process.execPath,
      args: ['-e', print],
      cwd: tmpdir(),
      own: process.env,
      env: {},
      limit: 100_000,
    }),
  )
}

const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"a":"{"}}'
const ERROR = '{"id":1,"error":{"code":-32601,"message":"no"},"jsonrpc":"2.0"}'
const QUESTION = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}'

const ROWS: [what: string, line: string, ids: number[], noises: string[]][] = [
  ['a message', ANSWER, [1], []],
  ['a banner without a line end', `Server ready... ${ANSWER}`, [1], ['Server ready... ']],
  ['one in brackets', `[info] up ${ERROR}`, [1], ['[info] up ']],
  ['a byte order mark', `\ufeff${ANSWER}`, [1], []],
  ['a byte order mark and a banner', `\ufeffready ${ANSWER}`, [1], ['ready ']],
  ['a byte order mark before several messages', `\ufeff[${ANSWER},${ANSWER}]`, [1, 1], []],
  ['nothing but a byte order mark', '\ufeff', [], []],
  ['a log of what it was asked', `got ${QUESTION}`, [], [`got ${QUESTION}`]],
  ['JSON that is no JSON-RPC', 'at {"time":1}', [], ['at {"time":1}']],
  ['half a message', `at ${ANSWER.slice(0, -1)}`, [], [`at ${ANSWER.slice(0, -1)}`]],
  ['a message and more', `at ${ANSWER} done`, [], [`at ${ANSWER} done`]],
]
for (const [what, line, ids, noises] of ROWS)
  test(`[D13] on a line: ${what}`, async () => {
    const last = '{"jsonrpc":"2.0","id":9,"result":{}}'
    const { told } = await printing(`${line}\n${last}\n`)
    await told.reply(9)
    expect(told.messages.slice(0, -1).map(({ value }) => value.id)).toEqual(ids)
    expect(told.noises).toEqual(noises)
  })
