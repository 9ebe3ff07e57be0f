import { expect, test } from 'vitest'
import { environmentTree, parseServerFlags } from './flags.ts'
import { plain } from './tree.ts'

const cases: [string, string[], Record<string, unknown>][] = [
  ['name=command args', ['files=npx -y pkg .'], { files: { command: 'npx', args: ['-y', 'pkg', '.'] } }],
  [
    'quotes without a shell',
    [`a=sh -c "echo 'x y' \\"z\\""`],
    { a: { command: 'sh', args: ['-c', `echo 'x y' "z"`] } },
  ],
  ['nothing expanded', ['a=echo $HOME `id` *'], { a: { command: 'echo', args: ['$HOME', '`id`', '*'] } }],
  ['name=url', ['docs=https://example.com/mcp?a=b'], { docs: { url: 'https://example.com/mcp?a=b' } }],
  ['name={json}', ['a={"command":"x"}'], { a: { command: 'x' } }],
  ['JSON with a name', ['{"name":"a","command":"x"}'], { a: { command: 'x' } }],
  [
    'JSON by name',
    ['{"a":{"command":"x"},"b":{"url":"https://y"}}'],
    { a: { command: 'x' }, b: { url: 'https://y' } },
  ],
  ["a client's whole file", ['{"mcpServers":{"a":{"command":"x"}}}'], { a: { command: 'x' } }],
  ['several flags', ['a=x', 'b=y'], { a: { command: 'x', args: [] }, b: { command: 'y', args: [] } }],
]
for (const [title, flags, expected] of cases)
  test(`[C3] --mcp-server understands ${title}`, () => {
    expect(parseServerFlags(flags)).toEqual(expected)
  })

for (const flag of ['nonsense', '=x', 'a=', '{"command":"x"}', '{broken', 'a="open'])
  test(`[C3] --mcp-server refuses ${flag}`, () => {
    expect(() => parseServerFlags([flag])).toThrow(expect.objectContaining({ code: 'USAGE' }))
  })

test('[C3] --mcp-server refuses one name twice', () => {
  expect(() => parseServerFlags(['a=x', 'a=y'])).toThrow(/twice/)
})

test('[D6] the MCP_* variables say what the file would', () => {
  const read = (env: Record<string, string>) => {
    const { tree } = environmentTree(env)
    return tree && plain(tree)
  }
  expect(read({ MCP_TOOL_APPROVAL: 'false', MCP_AUTO_DISCOVERY: 'true' })).toEqual({
    defaults: { approval: 'never' },
    steward: { autoDiscovery: true },
  })
  expect(read({ MCP_TOOL_APPROVAL: '1' })).toEqual({ defaults: { approval: 'always' } })
  expect(read({ MCP_TOOL_APPROVAL: '' })).toBeUndefined()
})

test('[D6] a word that is neither true nor false is an error that names the variable', () => {
  const { problems } = environmentTree({ MCP_TOOL_APPROVAL: 'maybe' })
  expect(problems).toEqual([
    { severity: 'error', file: 'MCP_TOOL_APPROVAL', message: 'is "maybe"; expected true or false' },
  ])
})
