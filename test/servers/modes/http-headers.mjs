// HTTP servers that show which headers they received.
import { json, schema } from '../protocol.mjs'
import { tool } from './parts.mjs'
import { plain } from './plain.mjs'

const headers = tool('headers', 'The headers of this request', (_given, call) => json(call.headers))

/** Tool `headers` gives back the request headers. */
function headerEcho() {
  const base = plain()
  return { ...base, tools: [...base.tools, headers] }
}

/**
 * Tool `region` wants arguments mirrored into Mcp-Param headers; tool `bad-header` annotates what cannot be mirrored,
 * so a client must leave it out.
 */
function mirrored() {
  const base = plain()
  const properties = {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    strict: { type: 'boolean', 'x-mcp-header': 'Strict' },
    note: { type: 'string' },
  }
  const bad = { list: { type: 'array', items: { type: 'string' }, 'x-mcp-header': 'List' } }
  const show = (given, call) => json({ arguments: given, headers: call.headers })
  return {
    ...base,
    tools: [
      ...base.tools,
      headers,
      tool('region', 'Arguments that are also headers', show, schema(properties, ['region'])),
      tool('bad-header', 'An annotation that is not allowed', show, schema(bad)),
    ],
  }
}

export const modes = { 'header-echo': headerEcho, 'x-mcp-header': mirrored }
