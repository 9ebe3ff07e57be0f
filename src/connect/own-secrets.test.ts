import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { Fault } from '../base/fault.ts'
import { learnSecret, MASK } from '../base/redact.ts'
import { readTools } from './definitions.ts'
import { OwnSecrets } from './own-secrets.ts'
import { ServerFiles } from './server-file.ts'

const SECRET = 'S3cret "value" of a server/+='
const secrets = new OwnSecrets(() => ({
  all: [SECRET, 'postgres', 'workspace-number-one'],
  sure: [SECRET, 'postgres'],
}))

const TOOL = {
  name: 'postgres_query',
  title: `Asks ${SECRET}`,
  description: `Asks postgres in workspace-number-one`,
  inputSchema: {
    type: 'object',
    properties: { [SECRET]: { type: 'string', default: Buffer.from(SECRET).toString('base64') } },
    required: [SECRET],
  },
}

test('[C11] what is shown of a server has no secret in it; names hide only what is no word', () => {
  expect(secrets.shown(TOOL)).toEqual({
    name: 'postgres_query',
    title: `Asks ${MASK}`,
    description: `Asks ${MASK} in ${MASK}`,
    inputSchema: {
      type: 'object',
      properties: { [MASK]: { type: 'string', default: MASK } },
      required: [MASK],
    },
  })
  expect(secrets.scrubName('postgres://me:postgres@host/workspace-number-one')).toBe(
    `postgres://me:${MASK}@host/workspace-number-one`,
  )
  const harmless = { name: 'echo', inputSchema: { type: 'object' } }
  expect(secrets.shown(harmless)).toBe(harmless)
  // Words of schemas stay, also where a short secret is called like one; a secret in their place does not.
  expect(secrets.shown({ type: 'postgres', format: SECRET, status: SECRET })).toEqual({
    type: 'postgres',
    format: MASK,
    status: MASK,
  })
})

test('[C11] a fault keeps its code and its number, and loses secrets', () => {
  const fault = new Fault('SERVER_ERROR', `no ${SECRET}`, {
    hint: `not ${SECRET}`,
    server: 'db',
    details: { code: -32000, data: [{ said: JSON.stringify(SECRET) }] },
  })
  expect(secrets.clean(fault)).toMatchObject({
    code: 'SERVER_ERROR',
    message: `no ${MASK}`,
    hint: `not ${MASK}`,
    server: 'db',
    details: { code: -32000, data: [{ said: `"${MASK}"` }] },
  })
})

test('[C11] what a fault came of has no secret in it either', () => {
  const deep = new Fault('SERVER_ERROR', 'refused', { cause: new Error(`no ${SECRET}`) })
  const fault = new Fault('SERVER_UNREACHABLE', 'it did not start', { cause: deep })
  const printed = inspect(secrets.clean(fault))
  expect(printed).toContain('refused')
  expect(printed).toContain(MASK)
  expect(printed).not.toContain(SECRET)
  const harmless = new Fault('SERVER_ERROR', 'no', { cause: new Error('nothing') })
  expect(secrets.clean(harmless)).toBe(harmless)
})

test('[C11] a tool that is called by a secret is left out, and one that is called by a word is not', () => {
  const items = [TOOL, { ...TOOL, name: `query-${SECRET}` }]
  const { tools, complaints } = readTools({ items, complaints: [] }, 'legacy', secrets)
  expect(tools).toEqual([TOOL])
  expect(complaints).toEqual([
    'a tool is left out: its name holds a secret that the server was given in its env, headers, args or url',
  ])
})

test('[C11] what is remembered comes back to the letter and has no secret in its file', () => {
  const state = mkdtempSync(join(tmpdir(), 'busbar-files-'))
  onTestFinished(() => rmSync(state, { recursive: true, force: true }))
  const files = new ServerFiles({ state } as never, 'servers')
  const text = () =>
    readdirSync(join(state, 'servers'))
      .map((it) => readFileSync(join(state, 'servers', it), 'utf8'))
      .join()
  const content = { tools: [TOOL, JSON.stringify(JSON.stringify(SECRET))] }
  files.write('db', 'same', secrets, content)
  expect(text()).not.toMatch(/S3cret|postgres|workspace-number/)
  expect(files.read('db', 'same', secrets)).toEqual(content)
  const others = new OwnSecrets(() => ({ all: ['another secret', 'postgres'], sure: [] }))
  expect(files.read('db', 'same', others)).toBeUndefined()
  // A mark of the server's own is none of ours: as good as no memory, never another text.
  files.write('db', 'same', secrets, { tools: [SECRET, '⟦0⟧'] })
  expect(files.read('db', 'same', secrets)).toBeUndefined()
  files.write('db', 'same', secrets, { tools: ['⟦0⟧'] })
  expect(files.read('db', 'same', secrets)).toMatchObject({ tools: ['⟦0⟧'] })
  // What was learned will be another the next time.
  learnSecret('learned-token-of-db', 'own-secrets-test')
  files.write('db', 'same', secrets, { tools: ['learned-token-of-db'] })
  expect(readdirSync(join(state, 'servers'))).toEqual([])
})

test('[C11] secrets that were read again do not show the former', () => {
  let current = 'first-secret-value'
  const changing = new OwnSecrets(() => ({ all: [current], sure: [current] }))
  expect(changing.scrub('first-secret-value second-secret-value')).toBe(`${MASK} second-secret-value`)
  current = 'second-secret-value'
  changing.renew()
  expect(changing.scrub('first-secret-value second-secret-value')).toBe(`${MASK} ${MASK}`)
})

test('[C11] an ordinary word under the name of a secret hides no tool, and no setting what a schema says', () => {
  const given = new OwnSecrets(() => ({
    all: ['service_account', 'application/json', 'string', SECRET],
    sure: ['service_account', SECRET],
  }))
  const schema = {
    type: 'object',
    properties: {
      form: { type: 'string', enum: ['application/json', 'text/html'], default: 'application/json' },
      key: { type: 'string', enum: [SECRET] },
    },
  }
  const tool = { name: 'list_service_account', description: 'Lists.', inputSchema: schema }
  expect(readTools({ items: [tool], complaints: [] }, 'legacy', given)).toEqual({
    tools: [tool],
    complaints: [],
  })
  const { form } = schema.properties
  const properties = { form, key: { type: 'string', enum: [MASK] } }
  expect(given.shown(tool)).toEqual({ ...tool, inputSchema: { type: 'object', properties } })
})

test('[C11] a server whose password is the word for it is remembered, too', () => {
  const given = new OwnSecrets(() => ({ all: ['secret'], sure: ['secret'] }))
  const hidden = given.hide({ description: 'Keeps a secret.' })
  expect(JSON.stringify(hidden)).not.toContain('secret')
  expect(given.restore(hidden)).toEqual({ description: 'Keeps a secret.' })
})
