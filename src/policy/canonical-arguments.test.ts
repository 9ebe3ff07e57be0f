import fc from 'fast-check'
import { expect, test } from 'vitest'
import { number } from '../wire/testing.ts'
import { canonicalArguments } from './canonical-arguments.ts'

function canonical(text: string): string {
  return canonicalArguments(Buffer.from(text))
}

/** A value as a tree in which numbers are as they are written. */
type Tree =
  | { readonly kind: 'text' | 'number' | 'word'; readonly value: string }
  | { readonly kind: 'list'; readonly items: readonly Tree[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Tree])[] }

const { tree, object } = fc.letrec<{ tree: Tree; object: Tree; list: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'tree' },
    fc.oneof(
      number.map((value): Tree => ({ kind: 'number', value })),
      fc
        .string({ unit: fc.constantFrom('a', 'b', '"', '\\', '\n', 'é', '/', '😀'), maxLength: 3 })
        .map((value): Tree => ({ kind: 'text', value })),
      fc.constantFrom('true', 'false', 'null').map((value): Tree => ({ kind: 'word', value })),
    ),
    tie('object'),
    tie('list'),
  ),
  list: fc.array(tie('tree'), { maxLength: 3 }).map((items): Tree => ({ kind: 'list', items })),
  object: fc
    .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'é', 'id', '', '__proto__', '"'), tie('tree')), {
      selector: ([key]) => key,
      maxLength: 4,
    })
    .map((members): Tree => ({ kind: 'object', members })),
}))

/** Writes a tree in a way that `choice` decides: spaces, the order of keys, escapes. */
function written(value: Tree, choice: () => number): string {
  const gap = () => [' ', '', '', '\n\t'][choice() % 4] ?? ''
  const text = (it: string) => {
    if (choice() % 3 > 0) return JSON.stringify(it)
    const codes = Array.from({ length: it.length }, (_, index) => it.charCodeAt(index))
    return `"${codes.map((code) => `\\u${code.toString(16).padStart(4, '0')}`).join('')}"`
  }
  if (value.kind === 'list')
    return `[${value.items.map((item) => gap() + written(item, choice) + gap()).join(',')}]`
  if (value.kind === 'object') {
    const members = value.members
      .map((member) => ({ member, rank: choice() }))
      .sort((one, other) => one.rank - other.rank)
      .map(({ member: [key, item] }) => `${gap()}${text(key)}${gap()}:${gap()}${written(item, choice)}`)
    return `{${members.join(',')}${gap()}}`
  }
  return value.kind === 'text' ? text(value.value) : value.value
}

function chooser(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state >>> 16
  }
}

/** The tree with its keys sorted: equal trees, and no others, are equal then. */
function sorted(value: Tree): unknown {
  if (value.kind === 'list') return { list: value.items.map(sorted) }
  if (value.kind !== 'object') return value
  const members = value.members.map(([key, item]) => [key, sorted(item)] as const)
  return { members: members.sort(([one], [other]) => (one < other ? -1 : 1)) }
}

test('the same arguments give the same text however they are written', () => {
  fc.assert(
    fc.property(object, fc.nat(), fc.nat(), (value, one, other) => {
      expect(canonical(written(value, chooser(one)))).toBe(canonical(written(value, chooser(other))))
    }),
    { numRuns: 500 },
  )
})

test('other arguments give another text', () => {
  fc.assert(
    fc.property(object, object, fc.nat(), (one, other, seed) => {
      const same = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
      expect(canonical(written(one, chooser(seed))) === canonical(written(other, chooser(seed)))).toBe(same)
    }),
    { numRuns: 500 },
  )
})

test('the text is JSON that means the same', () => {
  fc.assert(
    fc.property(tree, fc.nat(), (value, seed) => {
      const text = `{"it":${written(value, chooser(seed))}}`
      expect(JSON.parse(canonical(text))).toEqual(JSON.parse(text))
    }),
  )
})

test.each([
  ['{"n":12345678901234567891}', '{"n":12345678901234567000}'],
  ['{"n":1.0}', '{"n":1}'],
  ['{"n":1e2}', '{"n":100}'],
  ['{"n":1}', '{"n":"1"}'],
  ['{"n":null}', '{}'],
  ['{"n":[1,2]}', '{"n":[2,1]}'],
  ['{"a":1,"a":2}', '{"a":2,"a":1}'],
])('%s is not %s', (one, other) => {
  expect(canonical(one)).not.toBe(canonical(other))
})
