import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Shape } from './formats/shape.ts'
import { mergeTrees } from './merge.ts'
import { placeOf, plain, type Tree, treeOf } from './tree.ts'

function tree(data: Record<string, unknown>, file: string): Tree {
  const shape = new Shape()
  for (const [key, value] of Object.entries(data)) shape.put([key], value, [key])
  return treeOf(shape, { file, scope: 'project', position: () => undefined })
}

const merged = (...layers: Record<string, unknown>[]) =>
  plain(layers.map((data, index) => tree(data, `f${index}`)).reduce(mergeTrees))

test('[C3] the later layer wins, value by value', () => {
  expect(
    merged({ defaults: { servers: ['a'], approval: 'always' } }, { defaults: { approval: 'never' } }),
  ).toEqual({
    defaults: { servers: ['a'], approval: 'never' },
  })
})

test('[C3] lists are replaced, not joined', () => {
  expect(merged({ defaults: { servers: ['a', 'b'] } }, { defaults: { servers: ['c'] } })).toEqual({
    defaults: { servers: ['c'] },
  })
})

test('[C11] a whole definition replaces the lower one, so that no secret of it reaches another command', () => {
  const lower = { servers: { github: { command: 'npx', env: { TOKEN: 'mine' } } } }
  expect(merged(lower, { servers: { github: { command: 'evil' } } })).toEqual({
    servers: { github: { command: 'evil' } },
  })
  expect(merged(lower, { servers: { github: { url: 'https://example.com' } } })).toEqual({
    servers: { github: { url: 'https://example.com' } },
  })
})

test('[C3] an entry without command and url adjusts the one below', () => {
  const lower = { servers: { github: { command: 'npx', env: { A: '1', B: '2' } } } }
  expect(merged(lower, { servers: { github: { enabled: false, env: { B: '3' } } } })).toEqual({
    servers: { github: { command: 'npx', env: { A: '1', B: '3' }, enabled: false } },
  })
})

test('one way to sign in replaces another whole', () => {
  const lower = { servers: { a: { url: 'https://x', auth: { type: 'api_key', apiKey: 'k' } } } }
  expect(merged(lower, { servers: { a: { auth: { type: 'oauth' } } } })).toEqual({
    servers: { a: { url: 'https://x', auth: { type: 'oauth' } } },
  })
})

test('[C3] every value remembers the layer it came from', () => {
  const lower = tree({ servers: { a: { command: 'npx', enabled: true } } }, 'user.yaml')
  const upper = tree({ servers: { a: { enabled: false } } }, 'local.yaml')
  const result = mergeTrees(lower, upper)
  expect(placeOf(result, ['servers', 'a', 'command']).origin.file).toBe('user.yaml')
  expect(placeOf(result, ['servers', 'a', 'enabled']).origin.file).toBe('local.yaml')
  expect(placeOf(result, ['servers', 'a']).origin.file).toBe('user.yaml')
})

const scalar = fc.oneof(fc.string({ maxLength: 4 }), fc.integer(), fc.boolean())
const server = fc.record(
  {
    command: fc.string({ maxLength: 4 }),
    url: fc.string({ maxLength: 4 }),
    enabled: fc.boolean(),
    args: fc.array(fc.string({ maxLength: 3 }), { maxLength: 3 }),
    env: fc.dictionary(fc.constantFrom('A', 'B', 'C'), fc.string({ maxLength: 3 })),
    auth: fc.record({ type: fc.constantFrom('none', 'oauth') }),
  },
  { requiredKeys: [] },
)
const layer = fc.record(
  {
    servers: fc.dictionary(fc.constantFrom('x', 'y', 'z'), server),
    defaults: fc.dictionary(fc.constantFrom('p', 'q'), scalar),
    lead: scalar,
  },
  { requiredKeys: [] },
)

test('merging is associative, and nothing changes a layer merged with itself', () => {
  fc.assert(
    fc.property(layer, layer, layer, (a, b, c) => {
      const [x, y, z] = [tree(a, 'a'), tree(b, 'b'), tree(c, 'c')]
      expect(plain(mergeTrees(mergeTrees(x, y), z))).toEqual(plain(mergeTrees(x, mergeTrees(y, z))))
      expect(plain(mergeTrees(x, x))).toEqual(plain(x))
    }),
    { numRuns: 500 },
  )
})

test('every leaf of the result stands in the layer its place names', () => {
  fc.assert(
    fc.property(layer, layer, (a, b) => {
      const data: Record<string, Record<string, unknown>> = { a, b }
      const result = mergeTrees(tree(a, 'a'), tree(b, 'b'))
      const visit = (node: Tree, path: string[]): void => {
        if (node.kind === 'map') for (const [key, child] of node.entries) visit(child, [...path, key])
        else {
          let value: unknown = data[node.place.origin.file]
          for (const step of path) value = Reflect.get(Object(value), step)
          expect(plain(node)).toEqual(value)
        }
      }
      visit(result, [])
    }),
    { numRuns: 300 },
  )
})
