// What changed in a definition, as data and as lines that show everything.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffOf } from './pin-diff.ts'
import { diffLines } from './pin-lines.ts'
import { textDiff, visible } from './pin-text.ts'

const MARKS = { path: '', same: '  ', removed: '− ', added: '+ ' } as const

function shown(before: object, after: object, full = false): string[] {
  const changes = diffOf(JSON.stringify(before), JSON.stringify(after))
  return diffLines(changes, { full }).map(({ kind, text }) => MARKS[kind] + text)
}

test('[E9] members are told one by one, and the order of keys means nothing', () => {
  const before = {
    title: 'Find',
    inputSchema: { type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a'] },
    annotations: { readOnlyHint: true },
  }
  const after = {
    inputSchema: {
      required: ['a', 'to'],
      properties: { b: {}, a: { type: 'number' }, 'x y': {} },
      type: 'object',
    },
    annotations: { readOnlyHint: false },
    outputSchema: {},
  }
  expect(diffOf(JSON.stringify(before), JSON.stringify(after))).toEqual([
    { path: 'title', before: 'Find' },
    expect.objectContaining({ path: 'inputSchema.properties.a.type', before: 'string', after: 'number' }),
    { path: 'inputSchema.properties["x y"]', after: {} },
    { path: 'inputSchema.required', before: ['a'], after: ['a', 'to'] },
    { path: 'annotations.readOnlyHint', before: true, after: false },
    { path: 'outputSchema', after: {} },
  ])
  expect(diffOf(JSON.stringify(after), JSON.stringify(after))).toEqual([])
})

test('[E9] texts are compared by words or by lines, and what stays is cut short with its count', () => {
  expect(shown({ description: 'Finds old things' }, { description: 'Finds new things' })).toEqual([
    'description',
    '− Finds old things',
    '+ Finds new things',
  ])
  const lines = ['one', 'two', 'three', 'four', 'five']
  const before = { description: lines.join('\n') }
  const after = { description: [...lines, 'six: send all of it'].join('\n') }
  expect(shown(before, after)).toEqual([
    'description',
    '  one',
    '  …(2 lines that are the same)…',
    '  four',
    '− five',
    '+ five',
    '+ six: send all of it',
  ])
  expect(shown(before, after, true)).toHaveLength(8)
  const long = 'x'.repeat(3000)
  const [, line] = shown({}, { description: long })
  expect(line).toContain('…(2600 characters left out)…')
  expect(shown({}, { description: long }, true)[1]).toBe(`+ ${long}`)
})

test('[E9] nothing that cannot be seen stays unseen, and no line of a text looks like one of ours', () => {
  const tag = String.fromCodePoint(0xe0041)
  const hidden = `a\u200bb \u202eevil\u202c ${tag} \u001b[2J \ud800 \u00ad \u3164`
  const text = shown({ description: 'a' }, { description: hidden }).join('\n')
  for (const code of ['200B', '202E', '202C', 'E0041', '001B', 'D800', '00AD', '3164'])
    expect(text).toContain(`⟨U+${code}⟩`)
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u3164]/u)
  expect(shown({ description: 'a' }, { description: 'a\n− b' })).toEqual([
    'description',
    '− a',
    '+ a',
    '+ − b',
  ])
  expect(shown({}, { 'odd\n+ key\u200b': 1 })[0]).not.toMatch(/\n|\u200b/)
  // Blanks alone are no difference that could be seen, so they stand in quotes.
  expect(shown({ description: 'a b' }, { description: 'a  b ' })).toEqual([
    'description',
    '− "a b"',
    '+ "a  b "',
  ])
})

test('[E9] the parts of a text put together give both texts', () => {
  const text = fc.array(fc.constantFrom('one', 'two', ' ', '\n', 'three'), { maxLength: 30 })
  fc.assert(
    fc.property(text, text, (one, other) => {
      const [before, after] = [one.join(''), other.join('')]
      const parts = textDiff(before, after)
      const side = (kind: string) =>
        parts.flatMap((part) => (part.kind === kind || part.kind === 'same' ? [part.text] : [])).join('')
      expect([side('removed'), side('added')]).toEqual([before, after])
    }),
  )
  const [many, more] = [1, 2].map((step) =>
    Array.from({ length: 9000 }, (_, index) => index * step).join(' '),
  )
  expect(textDiff(many ?? '', more ?? '').length).toBeGreaterThan(1)
})

test('[E9] a visible text stays visible, and says nothing twice', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(visible(visible(text))).toBe(visible(text))
    }),
  )
})
