// One tool for each shape a tool result can have.
import { schema } from '../protocol.mjs'
import { tool } from './parts.mjs'
import { plain } from './plain.mjs'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
// A WAV file of no samples.
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

const TEXT = { type: 'text', text: 'Plain text, “quoted”, 東京 🚌' }
const IMAGE = { type: 'image', data: PIXEL, mimeType: 'image/png' }
const AUDIO = { type: 'audio', data: SILENCE, mimeType: 'audio/wav' }
const LINK = {
  type: 'resource_link',
  uri: 'test://text',
  name: 'text',
  title: 'A text',
  mimeType: 'text/plain',
  size: 25,
}
const EMBEDDED = {
  type: 'resource',
  resource: { uri: 'test://note', mimeType: 'text/markdown', text: '# Note\n\nEmbedded.' },
}
const EMBEDDED_BLOB = {
  type: 'resource',
  resource: { uri: 'test://pixel', mimeType: 'image/png', blob: PIXEL },
}
const STRUCTURED = { name: 'Ada', tags: ['a', 'b'], nested: { ok: true, none: null } }
const ANNOTATED = {
  type: 'text',
  text: 'For the assistant only',
  annotations: { audience: ['assistant'], priority: 1, lastModified: '2026-01-01T00:00:00Z' },
  _meta: { 'example.com/block': { n: 1 } },
}

const of = (...content) => ({ content })

function content() {
  const base = plain()
  const structured = {
    ...tool('structured', 'Structured content with a schema', () => ({
      ...of({ type: 'text', text: JSON.stringify(STRUCTURED) }),
      structuredContent: STRUCTURED,
    })),
    outputSchema: schema({ name: { type: 'string' }, tags: { type: 'array' }, nested: { type: 'object' } }, [
      'name',
    ]),
  }
  // Only the modern era allows any JSON value here; a legacy client gets the text alone.
  const list = tool('structured-list', 'Structured content that is no object', (_given, call) => ({
    ...of({ type: 'text', text: '[1,"two",null]' }),
    ...(call.modern && { structuredContent: [1, 'two', null] }),
  }))
  return {
    ...base,
    tools: [
      tool('text', 'Text', () => of(TEXT)),
      tool('image', 'An image', () => of(IMAGE)),
      tool('audio', 'Audio', () => of(AUDIO)),
      tool('link', 'A resource link', () => of(LINK)),
      tool('embedded', 'An embedded text resource', () => of(EMBEDDED)),
      tool('embedded-blob', 'An embedded binary resource', () => of(EMBEDDED_BLOB)),
      structured,
      list,
      tool('mixed', 'Several kinds at once', () => of(TEXT, IMAGE, LINK, EMBEDDED, AUDIO)),
      tool('empty', 'No content at all', () => of()),
      tool('annotated', 'Annotations and _meta', () => ({
        ...of(ANNOTATED),
        _meta: { 'example.com/result': ['kept'] },
      })),
    ],
  }
}

export const modes = { content }
