// The official conformance suite: its server scenarios against the built gateway, its client scenarios with the library.
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { CLIENT_FAILURES, decides, SERVER_FAILURES, surprises } from './expected-failures.ts'
import { installSuite, type ServerEntry, startFixture, startGateway, stdioFixture } from './processes.ts'
import { type Revision, runClient, runServer, scenarios } from './runner.ts'
import { startTokenProxy } from './token-proxy.ts'

const REVISIONS: readonly Revision[] = ['2025-11-25', '2026-07-28']
const TOKEN = 'conformance-token-0123456789abcdef0123456789'
const TIMEOUT = 180_000

/** The same suite over each way to the server behind the gateway. */
const LEGS: readonly { name: string; server: 'http' | 'stdio'; env: Record<string, string> }[] = [
  { name: 'to an HTTP server', server: 'http', env: {} },
  { name: 'to an HTTP server, every message parsed', server: 'http', env: { BUSBAR_WIRE: 'parse' } },
  { name: 'to a stdio server', server: 'stdio', env: {} },
]

beforeAll(installSuite, TIMEOUT)

// --- What the rest stands on: the fixture itself conforms, and what did not run is never taken for passed. ---

for (const revision of REVISIONS)
  test(`the fixture behind the proxy conforms to ${revision}`, { timeout: TIMEOUT }, async () => {
    const fixture = await startFixture()
    onTestFinished(fixture.close)
    const proxy = await startTokenProxy({ target: fixture.url, token: 'any' })
    onTestFinished(proxy.close)
    const outcomes = await runServer({ url: proxy.url, revision })
    expect(surprises(outcomes, {})).toEqual([])
    expect(outcomes.filter((outcome) => outcome.scored)).toHaveLength(revision === '2025-11-25' ? 30 : 37)
  })

test('against nothing, every server scenario that must find something has failed', {
  timeout: TIMEOUT,
}, async () => {
  const outcomes = await runServer({ url: 'http://127.0.0.1:9/mcp', revision: '2026-07-28' })
  const passed = outcomes.filter((outcome) => outcome.scored && outcome.passed)
  expect(passed.map((outcome) => outcome.scenario)).toEqual([])
  expect(outcomes).toHaveLength((await scenarios('server', '2026-07-28')).length)
})

test('a client that ends with an error has failed', { timeout: TIMEOUT }, async () => {
  const only = ({ name }: { name: string }): boolean => name === 'tools_call' || name === 'initialize'
  const outcomes = await runClient({ command: ['node', '--no-such-option'], revision: '2025-11-25', only })
  expect(outcomes.map(({ scenario, passed }) => [scenario, passed])).toEqual([
    ['initialize', false],
    ['tools_call', false],
  ])
  expect(outcomes[1]?.failures.join()).toContain('--no-such-option')
})

// --- The product. ---

for (const leg of LEGS)
  for (const revision of REVISIONS)
    test(`the gateway ${leg.name} conforms to ${revision}`, { timeout: TIMEOUT }, async () => {
      const server = await entry(leg.server, revision)
      const gateway = await startGateway({ server, token: TOKEN, env: leg.env })
      onTestFinished(gateway.close)
      const proxy = await startTokenProxy({ target: gateway.url, token: TOKEN })
      onTestFinished(proxy.close)
      const outcomes = await runServer({ url: proxy.url, revision })
      expect(surprises(outcomes, SERVER_FAILURES[revision])).toEqual([])
    })

for (const revision of REVISIONS)
  test(`the library as a client conforms to ${revision}`, { timeout: TIMEOUT }, async () => {
    const command = [process.execPath, join(import.meta.dirname, 'client.mjs')]
    const outcomes = await runClient({ command, revision, only: decides })
    expect(surprises(outcomes, CLIENT_FAILURES[revision])).toEqual([])
  })

/** A process speaks one era with all its clients, so it is told which; an HTTP server speaks both at a time. */
async function entry(server: 'http' | 'stdio', revision: Revision): Promise<ServerEntry> {
  if (server === 'stdio') return { ...stdioFixture, era: revision === '2025-11-25' ? 'legacy' : 'auto' }
  const fixture = await startFixture()
  onTestFinished(fixture.close)
  return { type: 'http', url: fixture.url }
}
