import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { placesOf } from '../../base/places.ts'
import { readClientText, withEntry, withoutEntry } from './change.ts'
import { readOwnEntry } from './entry.ts'
import { type KnownClient, knownClients, type Way } from './known.ts'

const CLIENTS = knownClients(placesOf({ HOME: '/home/ada' }), '/project', { HOME: '/home/ada' }, 'linux')
const HTTP: Way = { kind: 'http', url: 'http://127.0.0.1:4747/mcp', token: 'busbar_one' }
const STDIO: Way = {
  kind: 'stdio',
  command: '/usr/bin/node',
  args: ['/opt/busbar/bin.js', 'serve', '--stdio'],
  env: { BUSBAR_HOME: '/srv/busbar' },
  token: 'busbar_two',
}

/** A file with other servers, comments and odd blanks, in the words of each client. */
const FILES: Readonly<Record<string, string>> = {
  json: `// mine
{
\t"first": [1, 2,], /* kept */
\t"KEY": {
\t\t"other": { "command": "x", "env": {"API_KEY": "1"} }, // why
\t},
\t"last": null
}
`,
  toml: `# mine
model = "gpt" # why
text = """
[mcp_servers.busbar]
no table
"""

[KEY.other]
command = 'x'
args = [
  "a", # one
  "b",
]

# leads over
[tui]
at = 1979-05-27T07:32:00Z
`,
  yaml: `# mine
GOOSE_MODEL: x   # why
KEY:
  other: { type: stdio, cmd: x, args: [ ] }

  # a comment between
  more:
    type: builtin
last: |
  text
    more
`,
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'busbar-clients-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

const ENDINGS = { json: 'json', toml: 'toml', yaml: 'yaml' }

function fileOf(client: KnownClient, text: string): string {
  const file = join(folder(), `settings.${ENDINGS[client.syntax]}`)
  writeFileSync(file, text)
  return file
}

const key = (client: KnownClient) => client.container(null)[0] ?? ''

for (const client of CLIENTS)
  for (const way of client.http ? [HTTP, STDIO] : [STDIO])
    test(`[C11] ${client.id} gets and loses its ${way.kind} entry, and nothing else of the file changes`, async () => {
      const text = (FILES[client.syntax] ?? '').replaceAll('KEY', key(client))
      const variants: Record<string, (it: string) => string> = {
        plain: (it) => it,
        'line ends of Windows': (it) => it.replaceAll('\n', '\r\n'),
        'a byte-order mark': (it) => `\uFEFF${it}`,
        'no last line end': (it) => it.trimEnd(),
      }
      for (const [name, make] of Object.entries(variants)) {
        const file = fileOf(client, make(text))
        const before = await readClientText(client, file)
        const connected = await withEntry(client, file, before, client.entry(way))
        // Every line that was there is there still, in its order and with its end.
        const lines = connected.split('\n')
        let at = 0
        for (const line of before.text.trimEnd().split('\n')) {
          const bare = line.replace(/\r$/, '')
          while (at < lines.length && !(lines[at] ?? '').startsWith(bare)) at++
          expect(lines[at], `${name}: ${line}`).toMatch(line === bare ? /^/ : /\r$/)
          at++
        }
        if (make(text).includes('\r\n')) expect(connected.replaceAll('\r\n', '')).not.toContain('\n')
        writeFileSync(file, connected)
        const now = await readClientText(client, file)
        expect(readOwnEntry(now.entry)).toMatchObject({ kind: way.kind, token: way.token })
        expect(await withoutEntry(client, file, now), name).toBe(
          client.syntax === 'toml' && name === 'no last line end' ? `${before.text}\n` : before.text,
        )
      }
    })

for (const client of CLIENTS)
  test(`[C11] a second entry of ${client.id} takes the place of the first, also in an empty file`, async () => {
    const way = client.http ? HTTP : STDIO
    for (const text of ['', '\n', (FILES[client.syntax] ?? '').replaceAll('KEY', key(client))]) {
      const file = fileOf(client, text)
      const once = await withEntry(client, file, await readClientText(client, file), client.entry(way))
      writeFileSync(file, once)
      const again = await withEntry(client, file, await readClientText(client, file), {
        ...client.entry({ ...way, token: 'busbar_other' }),
      })
      expect(again).toBe(once.replaceAll(way.token, 'busbar_other'))
      writeFileSync(file, once)
      const now = await readClientText(client, file)
      const gone = await withoutEntry(client, file, now, { bare: true })
      expect(gone).not.toContain('busbar_')
    }
  })

test('[C11] any file of JSON keeps its data when our entry comes and goes', async () => {
  const client = CLIENTS.find(({ id }) => id === 'cursor') as KnownClient
  const file = join(folder(), 'mcp.json')
  const servers = fc.dictionary(fc.string(), fc.object({ maxDepth: 2 }), { maxKeys: 3 })
  await fc.assert(
    fc.asyncProperty(
      fc.record({ mcpServers: servers, more: fc.jsonValue() }, { requiredKeys: [] }),
      fc.constantFrom(0, 1, 2, '\t'),
      async (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        writeFileSync(file, text)
        const before = await readClientText(client, file)
        if (before.entry !== undefined) return
        writeFileSync(file, await withEntry(client, file, before, client.entry(HTTP)))
        const now = await readClientText(client, file)
        expect(readOwnEntry(now.entry)?.token).toBe('busbar_one')
        const gone = await withoutEntry(client, file, now, { bare: value.mcpServers === undefined })
        expect(JSON.parse(gone)).toEqual(JSON.parse(text))
        if (Object.keys(value.mcpServers ?? {}).length > 0) expect(gone).toBe(text)
      },
    ),
    { numRuns: 150 },
  )
})

test('[C11] what stood under our name before comes back', async () => {
  const client = CLIENTS.find(({ id }) => id === 'zed') as KnownClient
  const file = fileOf(client, '{"context_servers": {"busbar": {"command": "mine"}}}')
  const before = await readClientText(client, file)
  writeFileSync(file, await withEntry(client, file, before, client.entry(HTTP)))
  const now = await readClientText(client, file)
  expect(JSON.parse(await withoutEntry(client, file, now, { former: before.entry }))).toEqual({
    context_servers: { busbar: { command: 'mine' } },
  })
})

test('[C11] a file that does not parse is a fault with file, line and column', async () => {
  const broken = { json: '{\n  "a": oops\n}', toml: 'a = 1\nb = = 2\n', yaml: 'a: 1\n  b: [\n' }
  for (const [syntax, text] of Object.entries(broken)) {
    const client = CLIENTS.find((it) => it.syntax === syntax) as KnownClient
    const file = fileOf(client, text)
    await expect(readClientText(client, file)).rejects.toMatchObject({
      code: 'CONFIG_EDIT',
      message: expect.stringMatching(new RegExp(`^${file}:\\d+:\\d+: `)),
      hint: expect.stringContaining('nothing was written'),
    })
  }
})

test('[C11] a file whose way of writing leaves no room for an entry is refused, not rewritten', async () => {
  const codex = CLIENTS.find(({ id }) => id === 'codex') as KnownClient
  const goose = CLIENTS.find(({ id }) => id === 'goose') as KnownClient
  for (const [client, text] of [
    [codex, 'mcp_servers = { other = { command = "x" } }\n'],
    [codex, 'mcp_servers.busbar.url = "http://mine"\n'],
    [goose, 'base: &all\n  a: { type: builtin }\nextensions: *all\n'],
  ] as const) {
    const file = fileOf(client, text)
    const now = await readClientText(client, file)
    await expect(withEntry(client, file, now, client.entry(HTTP))).rejects.toMatchObject({
      code: 'CONFIG_EDIT',
      hint: expect.stringContaining('nothing was written'),
    })
  }
})

test('opencode in its newer form keeps servers one level deeper', async () => {
  const client = CLIENTS.find(({ id }) => id === 'opencode') as KnownClient
  const file = fileOf(client, '{"mcp": {"servers": {"a": {"type": "local", "command": ["x"]}}}}')
  const text = await withEntry(client, file, await readClientText(client, file), client.entry(HTTP))
  expect(JSON.parse(text).mcp.servers.busbar).toMatchObject({ type: 'remote', url: HTTP.url })
})
