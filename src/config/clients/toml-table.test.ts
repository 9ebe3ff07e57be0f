import { expect, test } from 'vitest'
import { withoutTable, withTable } from './toml-table.ts'

const PATH = ['mcp_servers', 'busbar']
const OURS = '[mcp_servers.busbar]\nurl = "one"\n'
const NEXT = '[mcp_servers.busbar]\nurl = "two"\n'

/** What stands behind our entry and is not ours. */
const BEHIND = {
  'a comment before the next header': '\n# my notes\n[profiles.x]\nmodel = "y"\n',
  'a comment right behind our keys': '# my notes\n[profiles.x]\nmodel = "y"\n',
  'a comment at the end': '\n# the end\n',
  'a comment without a line end': '\n  # the end',
  'a table that is commented out': '\n# [mcp_servers.old]\n# url = "x"\n',
  'a header with a comment beside it': '\n[profiles.x] # mine\nmodel = "y"\n',
  'a text that looks like ours': "\n# mine\n[a]\nb = '''\n[mcp_servers.busbar]\n# no comment \\'''\n# last\n",
}

for (const [name, behind] of Object.entries(BEHIND))
  for (const end of ['\n', '\r\n'])
    test(`[C11] ${name} stays when our table is replaced or taken out${end === '\n' ? '' : ' (CRLF)'}`, () => {
      const lines = (text: string) => text.replaceAll('\n', end)
      const text = lines(`model = "x"\n\n${OURS}${behind}`)
      expect(withTable(text, PATH, { url: 'two' })).toBe(lines(`model = "x"\n\n${NEXT}${behind}`))
      expect(withoutTable(text, PATH)).toBe(lines(`model = "x"\n${behind}`))
    })

test('[C11] comments within a table, beside its header and between those below it stay', () => {
  const text = `[mcp_servers.busbar] # mine
# why
command = "x"

args = [
  "a", # goes with its key
  # within
  "b",
]
text = """
# no comment: \\"""
# nor this"""
# leads over

[mcp_servers.busbar.env]
# below
A = "1"
# last
[tui]
`
  expect(withTable(text, PATH, { url: 'two' })).toBe(`[mcp_servers.busbar] # mine
# why
  # within
url = "two"
# leads over

# below
# last
[tui]
`)
  expect(withoutTable(text, PATH)).toBe(`# why
  # within
# leads over

# below
# last
[tui]
`)
})

test('[C11] a table below ours that stands before it gives way to ours', () => {
  const text = '[mcp_servers.busbar.env]\n# below\nA = "1"\n\n[mcp_servers.busbar]\ncommand = "x"\n# last\n'
  expect(withTable(text, PATH, { url: 'two' })).toBe('[mcp_servers.busbar]\n# below\nurl = "two"\n# last\n')
})
