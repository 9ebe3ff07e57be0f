import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AnswerReader } from './http-answer.ts'

interface Heard {
  status?: number
  headers?: Record<string, string | undefined>
  body?: string
  ended?: boolean
  error?: string
  keeps?: boolean
}

/** What is heard when these pieces come and then, if `closes`, the end of the connection. */
function read(pieces: readonly Buffer[], closes = false, tunnels = false): Heard {
  const heard: Heard = {}
  const body: Buffer[] = []
  const reader = new AnswerReader(
    {
      head: (status, headers) => Object.assign(heard, { status, headers: { ...headers } }),
      data: (chunk) => body.push(chunk),
      end: () => Object.assign(heard, { ended: true, keeps: reader.keeps }),
    },
    tunnels,
  )
  try {
    for (const piece of pieces) reader.push(piece)
    if (closes && reader.begun && !reader.finish()) heard.error = 'cut'
  } catch (error) {
    heard.error = (error as { code: string }).code
  }
  if (heard.status !== undefined) heard.body = Buffer.concat(body).toString('latin1')
  return heard
}

const bytes = (text: string) => Buffer.from(text, 'latin1')
const OK = 'HTTP/1.1 200 OK\r\n'

// What is read, whether the connection closes after it, what of it is heard.
const readable: [string, string, boolean, Partial<Heard>][] = [
  ['a counted body', `${OK}Content-Length: 2\r\n\r\nhi`, false, { body: 'hi', keeps: true }],
  ['no body at all', `${OK}Content-Length: 0\r\n\r\n`, false, { body: '', keeps: true }],
  [
    'pieces',
    `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nA;x="y"\r\n0123456789\r\n0\r\n\r\n`,
    false,
    { body: 'hi0123456789', keeps: true },
  ],
  [
    'pieces with lines after them',
    `${OK}Transfer-Encoding: Chunked\r\n\r\n1\r\nh\r\n000\r\nX-Sum: 1\r\n\r\n`,
    false,
    { body: 'h', keeps: true },
  ],
  ['a body up to the end', `${OK}\r\nall of it`, true, { body: 'all of it', keeps: false }],
  ['an older version', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx', false, { body: 'x', keeps: false }],
  [
    'an older version that stays',
    'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx',
    false,
    { body: 'x', keeps: true },
  ],
  [
    'a farewell',
    `${OK}Connection: foo, Close\r\nContent-Length: 1\r\n\r\nx`,
    false,
    { body: 'x', keeps: false },
  ],
  ['no content', 'HTTP/1.1 204 No Content\r\n\r\n', false, { status: 204, body: '', keeps: true }],
  [
    'not modified, with the length it would have',
    'HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n',
    false,
    { status: 304, body: '', keeps: true },
  ],
  [
    'hints before it',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}Content-Length: 1\r\n\r\nx`,
    false,
    { status: 200, body: 'x' },
  ],
  ['a status without words', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', false, { status: 200 }],
]
for (const [what, text, closes, expected] of readable)
  test(`${what} is read, however it is cut`, () => {
    expect(read([bytes(text)], closes)).toMatchObject({ ...expected, ended: true })
    expect(
      read(
        [...bytes(text)].map((byte) => Buffer.from([byte])),
        closes,
      ),
    ).toEqual(read([bytes(text)], closes))
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 6 }), (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), text.length]
        const pieces = places.slice(1).map((end, at) => bytes(text.slice(places[at], end)))
        expect(read(pieces, closes)).toEqual(read([bytes(text)], closes))
      }),
    )
  })

const refused: [string, string, string][] = [
  ['another protocol', 'SSH-2.0-OpenSSH_9', 'HPE_INVALID_CONSTANT'],
  ['the next version', 'HTTP/2.0 200 OK\r\n\r\n', 'HPE_INVALID_CONSTANT'],
  ['no status', 'HTTP/1.1 OK\r\n\r\n', 'HPE_INVALID_STATUS'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', 'HPE_INVALID_STATUS'],
  ['another protocol than was spoken', 'HTTP/1.1 101 Switching\r\n\r\n', 'HPE_INVALID_STATUS'],
  [
    'lengths of two kinds',
    `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nhi`,
    'HPE_INVALID_TRANSFER_ENCODING',
  ],
  ['two lengths', `${OK}Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi`, 'HPE_UNEXPECTED_CONTENT_LENGTH'],
  ['a list of lengths', `${OK}Content-Length: 2, 2\r\n\r\nhi`, 'HPE_INVALID_CONTENT_LENGTH'],
  ['a length below nothing', `${OK}Content-Length: -1\r\n\r\nhi`, 'HPE_INVALID_CONTENT_LENGTH'],
  ['a length with a sign', `${OK}Content-Length: +2\r\n\r\nhi`, 'HPE_INVALID_CONTENT_LENGTH'],
  [
    'a length beyond all numbers',
    `${OK}Content-Length: 99999999999999999999\r\n\r\nhi`,
    'HPE_INVALID_CONTENT_LENGTH',
  ],
  ['another coding', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`, 'HPE_INVALID_TRANSFER_ENCODING'],
  [
    'a coding twice',
    `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`,
    'HPE_INVALID_TRANSFER_ENCODING',
  ],
  ['a space before the colon', `${OK}Content-Length : 2\r\n\r\nhi`, 'HPE_INVALID_HEADER_TOKEN'],
  ['a header over two lines', `${OK}X: a\r\n b\r\nContent-Length: 0\r\n\r\n`, 'HPE_INVALID_HEADER_TOKEN'],
  ['a header without a name', `${OK}: a\r\nContent-Length: 0\r\n\r\n`, 'HPE_INVALID_HEADER_TOKEN'],
  ['a header without a colon', `${OK}nothing\r\nContent-Length: 0\r\n\r\n`, 'HPE_INVALID_HEADER_TOKEN'],
  ['a bare line feed', `${OK}X: a\nContent-Length: 0\r\n\r\n`, 'HPE_INVALID_HEADER_TOKEN'],
  ['a bare carriage return', `${OK}X: a\rY: b\r\nContent-Length: 0\r\n\r\n`, 'HPE_INVALID_HEADER_TOKEN'],
  ['a control character', `${OK}X: a\0b\r\nContent-Length: 0\r\n\r\n`, 'HPE_INVALID_HEADER_TOKEN'],
  ['a head without end', OK + 'X: y\r\n'.repeat(4000), 'HPE_HEADER_OVERFLOW'],
  [
    'a piece without a size',
    `${OK}Transfer-Encoding: chunked\r\n\r\n\r\nhi\r\n0\r\n\r\n`,
    'HPE_INVALID_CHUNK_SIZE',
  ],
  [
    'a piece of a negative size',
    `${OK}Transfer-Encoding: chunked\r\n\r\n-2\r\nhi\r\n0\r\n\r\n`,
    'HPE_INVALID_CHUNK_SIZE',
  ],
  [
    'a piece with a size in words',
    `${OK}Transfer-Encoding: chunked\r\n\r\n0x2\r\nhi\r\n0\r\n\r\n`,
    'HPE_INVALID_CHUNK_SIZE',
  ],
  [
    'a piece of astronomic size',
    `${OK}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhi`,
    'HPE_INVALID_CHUNK_SIZE',
  ],
  [
    'a piece longer than it says',
    `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nhi\r\n0\r\n\r\n`,
    'HPE_STRICT',
  ],
  [
    'a size line that ends in a bare line feed',
    `${OK}Transfer-Encoding: chunked\r\n\r\n2\nhi\r\n0\r\n\r\n`,
    'HPE_CR_EXPECTED',
  ],
  [
    'words without end beside a size',
    `${OK}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(20_000)}`,
    'HPE_HEADER_OVERFLOW',
  ],
  [
    'last lines without end',
    `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n${'X: y\r\n'.repeat(4000)}`,
    'HPE_HEADER_OVERFLOW',
  ],
]
for (const [what, text, code] of refused)
  test(`${what} is refused, however it is cut`, () => {
    expect(read([bytes(text)], true).error).toBe(code)
    const slowly = read(
      [...bytes(text)].map((byte) => Buffer.from([byte])),
      true,
    )
    // A line that ends oddly is then seen before the rest of the head is there.
    expect(slowly.error).toBe(text.includes('a\n') ? 'HPE_CR_EXPECTED' : code)
  })

test('a head whose lines end in another way is refused at once, and not waited for', () => {
  for (const text of ['HTTP/1.1 200 OK\nContent-Length: 2\n\nhi', 'HTTP/1.1 200 OK\r\nX: y\r\n\nhi'])
    expect(read([bytes(text)]).error).toBe('HPE_CR_EXPECTED')
})

for (const head of [
  '204 No\r\nTransfer-Encoding: chunked',
  '204 No\r\nContent-Length: 2',
  '304 No\r\nTransfer-Encoding: chunked',
])
  test(`after ${JSON.stringify(head)} the connection is not used again: a body may follow`, () => {
    expect(read([bytes(`HTTP/1.1 ${head}\r\n\r\n`)])).toMatchObject({ ended: true, body: '', keeps: false })
  })

test('what ends before its time is not whole', () => {
  for (const text of [
    'HTTP/1.1 2',
    `${OK}Content-Length: 3\r\n\r\nhi`,
    `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n`,
  ])
    expect(read([bytes(text)], true)).toMatchObject({ error: 'cut' })
})

test('what follows an answer that nobody asked for spoils the connection, and is not heard', () => {
  const heard = read([bytes(`${OK}Content-Length: 2\r\n\r\nhi${OK}Content-Length: 4\r\n\r\nevil`)])
  expect(heard).toMatchObject({ status: 200, body: 'hi', keeps: false })
})

test('headers are told by names in lower case, joined where that means something', () => {
  const { headers } = read([
    bytes(
      `${OK}X-Twice: a\r\nx-twice:\t b \r\nContent-Type: text/plain\r\nContent-Type: text/html\r\n` +
        `__proto__: x\r\nX-Latin: \xe9\xa0\r\nX-Empty:\r\nContent-Length: 0\r\n\r\n`,
    ),
  ])
  expect(headers).toMatchObject({
    'x-twice': 'a, b',
    'content-type': 'text/plain',
    'x-latin': '\xe9\xa0',
    'x-empty': '',
  })
  expect(Object.keys(headers ?? {})).toContain('__proto__')
})

test('an answer to CONNECT has no body, and a refusal has one', () => {
  expect(read([bytes('HTTP/1.1 200 OK\r\n\r\n')], false, true)).toMatchObject({ ended: true, keeps: true })
  expect(read([bytes('HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno')], false, true)).toMatchObject({
    status: 407,
    body: 'no',
  })
})

// --- beside node's own reader ---

let answer = ''
const server = net.createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', () => socket.end(bytes(answer)))
})
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise((resolve) => void server.close(resolve)))

/** What node's client hears. */
function readByNode(text: string): Promise<Heard> {
  answer = text
  return new Promise((resolve) => {
    const { port } = server.address() as AddressInfo
    const request = http.get({ port, host: '127.0.0.1', agent: false }, (response) => {
      const body: Buffer[] = []
      response.on('data', (chunk) => body.push(chunk))
      response.on('error', () => resolve({ error: 'some' }))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(body).toString('latin1') }),
      )
    })
    request.on('error', () => resolve({ error: 'some' }))
    request.on('upgrade', (_, socket) => {
      socket.destroy()
      resolve({ error: 'some' })
    })
  })
}

test('whatever is read here, node reads the same; it refuses nothing that is taken here', async () => {
  const line = fc.constantFrom(
    'Content-Length: 2',
    'Content-Length: 0',
    'Content-Length: 5',
    'content-length: x',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip',
    'Connection: close',
    'Connection: keep-alive',
    'X: y',
    'X : y',
    ' X: y',
    'X',
    ': y',
    'Keep-Alive: timeout=5',
  )
  const end = fc.constantFrom('\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r')
  const body = fc.constantFrom(
    '',
    'hi',
    'hello',
    '2\r\nhi\r\n0\r\n\r\n',
    '2\r\nhi\r\n',
    '0\r\n\r\n',
    '2\nhi\r\n0\r\n\r\n',
    '2;a\r\nhi\r\n0\r\nX: y\r\n\r\n',
    'zz\r\n',
  )
  const first = fc.constantFrom(
    'HTTP/1.1 200 OK',
    'HTTP/1.1 204 No',
    'HTTP/1.0 200 OK',
    'HTTP/1.1 404',
    'HTTP/1.2 200 OK',
    'HTTP/1.1 20 OK',
  )
  await fc.assert(
    fc.asyncProperty(
      first,
      fc.array(fc.tuple(line, end), { maxLength: 3 }),
      body,
      async (start, lines, rest) => {
        const text = `${start}\r\n${lines.map(([header, close]) => header + close).join('')}\r\n${rest}`
        const ours = read([bytes(text)], true)
        if (ours.error !== undefined || !ours.ended) return
        const theirs = await readByNode(text)
        // Where more comes than was announced, node tells of the answer and then of the trouble.
        if (theirs.error === undefined || ours.keeps)
          expect({ status: ours.status, body: ours.body }).toEqual(theirs)
      },
    ),
    { numRuns: 400 },
  )
})
