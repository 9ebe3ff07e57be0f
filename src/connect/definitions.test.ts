import { expect, test } from 'vitest'
import { type ReplyMessage, readMessage } from '../wire/message.ts'
import { listAll, readTools } from './definitions.ts'

function page(result: object): ReplyMessage {
  return readMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))) as ReplyMessage
}

const LIMIT = 1_000_000

const tool = (name: string, inputSchema: object = { type: 'object' }) => ({ name, inputSchema })

test('all pages are read, in order', async () => {
  const pages = [
    page({ tools: [tool('a')], nextCursor: '2' }),
    page({ tools: [tool('b')], nextCursor: '3' }),
    page({ tools: [tool('c')] }),
  ]
  const asked: (string | undefined)[] = []
  const list = await listAll('files', 'tools/list', LIMIT, async (cursor) => {
    asked.push(cursor)
    return pages.shift() as ReplyMessage
  })
  expect(asked).toEqual([undefined, '2', '3'])
  expect(readTools(list, 'modern').tools.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
})

test('an empty cursor is none', async () => {
  const list = await listAll('files', 'tools/list', LIMIT, async () =>
    page({ tools: [tool('a')], nextCursor: '' }),
  )
  expect([list.items.length, list.complaints]).toEqual([1, []])
})

test('a cursor that comes again ends the list, and that is said', async () => {
  const list = await listAll('files', 'tools/list', LIMIT, async () =>
    page({ tools: [tool('a')], nextCursor: 'same' }),
  )
  expect(list.items).toHaveLength(2)
  expect(list.complaints).toEqual([expect.stringContaining('same page again')])
})

test('pages without end are cut off', async () => {
  let count = 0
  const list = await listAll('files', 'tools/list', LIMIT, async () => {
    count += 1
    return page({ tools: [tool(`t${count}`)], nextCursor: String(count) })
  })
  expect(count).toBe(1000)
  expect(list.complaints).toEqual([expect.stringContaining('does not end')])
})

test('pages are too much when they are together, and then none of them counts', async () => {
  let count = 0
  const large = { ...tool('large'), description: 'x'.repeat(300_000) }
  const list = listAll('files', 'tools/list', LIMIT, async () => {
    count += 1
    return page({ tools: [large], nextCursor: String(count) })
  })
  await expect(list).rejects.toMatchObject({
    code: 'MESSAGE_TOO_LARGE',
    message: 'files gives more than 1000000 bytes for tools/list, all pages together',
    hint: 'raise limits.message of files',
  })
  expect(count).toBe(4)
})

test('an error of the server is a fault that carries its code', async () => {
  const error = readMessage(
    Buffer.from('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no tools"}}'),
  ) as ReplyMessage
  await expect(listAll('files', 'tools/list', LIMIT, async () => error)).rejects.toMatchObject({
    code: 'SERVER_ERROR',
    message: 'files refused tools/list: no tools',
    details: { code: -32601 },
  })
})

test('what cannot be offered is left out and named, the rest stays', () => {
  const bad = tool('bad', { type: 'object', properties: { n: { type: 'number', 'x-mcp-header': 'N' } } })
  const items = [tool('ok'), { name: 'no schema' }, { inputSchema: {} }, 7, null, tool('ok'), bad]
  const modern = readTools({ items, complaints: [] }, 'modern')
  expect(modern.tools.map(({ name }) => name)).toEqual(['ok'])
  expect(modern.complaints).toHaveLength(6)
  // Older servers never heard of that header.
  expect(readTools({ items: [bad], complaints: [] }, 'legacy').tools).toHaveLength(1)
})

test('a tool that takes the name of another request is left out, in both eras', () => {
  const items = [tool('#ping'), tool('ok'), tool('#instructions'), tool('a#b')]
  for (const era of ['modern', 'legacy'] as const) {
    const { tools, complaints } = readTools({ items, complaints: [] }, era)
    expect(tools.map(({ name }) => name)).toEqual(['ok', 'a#b'])
    expect(complaints).toEqual([
      'the tool #ping is left out: it has a name that begins with #, as only other requests have',
      'the tool #instructions is left out: it has a name that begins with #, as only other requests have',
    ])
  }
})
