// `busbar add`: a server typed by a person, or one of the catalog by name.

import { Fault } from '../../base/fault.ts'
import { nearest } from '../../base/suggest.ts'
import { CATALOG, catalogEntry } from '../../config/catalog.ts'
import { ADD_OPTIONS, addTyped } from '../add-server.ts'
import { command } from '../command.ts'
import { checkNewName, typedServer } from '../new-server.ts'

export const spec = command({
  summary: 'add a server',
  words: '<name> [url | -- command args...]',
  options: {
    ...ADD_OPTIONS,
    transport: {
      short: 't',
      value: 'type',
      about: 'stdio, http, sse or websocket (a URL without it is http)',
    },
    env: {
      short: 'e',
      value: 'NAME=value',
      many: true,
      about: 'environment; NAME alone is taken from yours (repeatable)',
    },
    header: {
      short: 'H',
      value: 'header',
      many: true,
      about: '"Name: value" sent with every request (repeatable)',
    },
    cwd: { value: 'folder', about: 'where the command runs' },
    description: { value: 'text', about: 'what it is for' },
    category: { value: 'word', about: 'a word to group by' },
  },
  help: `
Examples:
  busbar add files -- npx -y @modelcontextprotocol/server-filesystem .
  busbar add github -e GITHUB_TOKEN --agent cto -- npx -y @modelcontextprotocol/server-github
  busbar add docs https://example.com/mcp -H 'Authorization: Bearer \${DOCS_TOKEN}'
  busbar add -s user memory -- npx -y @modelcontextprotocol/server-memory
  busbar add stripe                    from the catalog, see: busbar integrations list`,
  run: async (session, [name = '', ...words], options) => {
    checkNewName(name, 'server')
    if (words.length > 0) return await addTyped(session, name, typedServer(words, options), options)
    const near = nearest(
      name,
      CATALOG.map((entry) => entry.name),
    )
    if (!catalogEntry(name))
      throw new Fault('USAGE', `what is ${name}? Neither a command nor a URL was given`, {
        hint: near
          ? `did you mean the catalog's "${near}"? Else write: busbar add ${name} -- COMMAND ARGS…`
          : `write: busbar add ${name} -- COMMAND ARGS…   or: busbar add ${name} URL`,
      })
    const { addFromCatalog } = await import('../add-catalog.ts')
    await addFromCatalog(session, name, options)
  },
})
