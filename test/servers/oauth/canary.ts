// What must never be reached: a listener that remembers who came, and the ways to write its address.
import { type Listener, listen, type Received, received } from './listener.ts'

export interface Canary extends Listener {
  /** Everything that ever arrived; a test of SSRF wants it empty. */
  hits: Received[]
  /** Its address as a hostile document would write it: each of these reaches it, those in brackets by IPv6. */
  spellings: string[]
}

/** Answers 200 to everything, with a document that names nothing. */
export async function startCanary(): Promise<Canary> {
  const hits: Received[] = []
  const listener = await listen(() => async (request, response) => {
    hits.push(await received(request))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  const { port } = new URL(listener.origin)
  return { ...listener, hits, spellings: HOSTS.map((host) => `http://${host}:${port}`) }
}

// --- internal ---

const HOSTS = [
  '127.0.0.1',
  '127.1',
  '0x7f.1',
  '0x7f000001',
  '2130706433',
  '0177.0.0.1',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
  '0.0.0.0',
  '0',
  'localhost',
  'LOCALHOST',
  'user:secret@127.0.0.1',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
]
