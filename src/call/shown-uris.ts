// Addresses of resources in an answer, as clients of all servers know them. They are put in where they stand: every other
// byte of the answer stays what it was.

import { messagesIn } from '../wire/batch.ts'
import { find, mentions, type ReplyMessage, readMessage } from '../wire/message.ts'
import { type Member, scanObject } from '../wire/scan.ts'

/** Whether an answer may speak of resources: a search, so that most answers are never read for it. */
export function mentionsUri(reply: ReplyMessage): boolean {
  return reply.kind === 'result' && mentions(reply, '"uri"')
}

/** The same answer with each address as `shown` gives it: of linked and embedded resources, and of what was read. */
export async function withShownUris(
  reply: ReplyMessage,
  naming: () => Promise<(uri: string) => string>,
): Promise<ReplyMessage> {
  const { bytes, members } = reply
  const result = find(members, 'result')
  const found = result ? [...urisIn(bytes, result)] : []
  if (found.length === 0) return reply
  const shown = await naming()
  const pieces: Buffer[] = []
  let from = 0
  for (const { start, end } of found) {
    const uri: unknown = JSON.parse(bytes.toString('utf8', start, end))
    const other = typeof uri === 'string' ? shown(uri) : uri
    if (other === uri) continue
    pieces.push(bytes.subarray(from, start), Buffer.from(JSON.stringify(other)))
    from = end
  }
  if (pieces.length === 0) return reply
  return readMessage(Buffer.concat([...pieces, bytes.subarray(from)])) as ReplyMessage
}

// --- internal ---

type At = Pick<Member, 'start' | 'end'>

/** Where addresses stand, in their order. */
function* urisIn(bytes: Buffer, result: At): Generator<At> {
  for (const member of membersOf(bytes, result))
    if (member.key === 'contents')
      for (const one of elementsOf(bytes, member)) yield* valuesOf(bytes, one, 'uri')
    else if (member.key === 'content') yield* inBlocks(bytes, member)
    else if (member.key === 'messages')
      for (const message of elementsOf(bytes, member))
        for (const content of valuesOf(bytes, message, 'content')) yield* inBlocks(bytes, content)
}

/** In content, which is one block or a list of them. */
function* inBlocks(bytes: Buffer, at: At): Generator<At> {
  for (const block of elementsOf(bytes, at)) {
    const isLink = [...valuesOf(bytes, block, 'type')].some(
      ({ start, end }) => bytes.toString('utf8', start, end) === '"resource_link"',
    )
    if (isLink) yield* valuesOf(bytes, block, 'uri')
    else for (const resource of valuesOf(bytes, block, 'resource')) yield* valuesOf(bytes, resource, 'uri')
  }
}

function* elementsOf(bytes: Buffer, { start, end }: At): Generator<At> {
  const list = bytes.subarray(start, end)
  for (const element of messagesIn(list)) {
    const from = start + element.byteOffset - list.byteOffset
    yield { start: from, end: from + element.length }
  }
}

function* valuesOf(bytes: Buffer, at: At, key: string): Generator<At> {
  for (const member of membersOf(bytes, at)) if (member.key === key) yield member
}

function membersOf(bytes: Buffer, { start, end }: At): Member[] {
  const scan = scanObject(bytes.subarray(start, end))
  if (!scan.ok) return []
  return scan.members.map((member) => ({
    key: member.key,
    start: start + member.start,
    end: start + member.end,
  }))
}
