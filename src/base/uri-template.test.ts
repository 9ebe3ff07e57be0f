import fc from 'fast-check'
import { expect, test } from 'vitest'
import { UriTemplate } from './uri-template.ts'

function fits(template: string, uri: string): boolean | undefined {
  return UriTemplate.read(template)?.fits(uri, { left: 1e6 })
}

test.each([
  ['a://b', 'a://b', true],
  ['a://b', 'a://bc', false],
  ['a://b', 'a://', false],
  ['', '', true],
  ['', 'a', false],
  ['city://{name}', 'city://Bern', true],
  ['city://{name}', 'city://Z%C3%BCrich', true],
  ['city://{name}', 'city://Zürich', true],
  ['city://{name}', 'city://', true],
  ['city://{name}', 'city://a/b', false],
  ['city://{name}', 'town://a', false],
  ['r://{owner}/{repo}/x', 'r://a/b/x', true],
  ['r://{owner}/{repo}/x', 'r://a/b/c/x', false],
  ['{x,y}', 'a,b', true],
  ['file:///{+path}', 'file:///a/b?c#d', true],
  ['{+path}/{name}', 'a/b/c', true],
  ['{+path}/{name}', 'abc', false],
  ['{+a}x{+b}x', 'xxx', true],
  ['a{#f}', 'a#b/c', true],
  ['a{#f}', 'a', true],
  ['a{#f}', 'ab', false],
  ['a{.x,y}', 'a.b.c', true],
  ['a{.x}', 'a/b', false],
  ['a{/x}', 'a/b', true],
  ['a{/x}', 'a/b/c', false],
  ['a{/x,y}/z', 'a/b/c/z', true],
  ['a{/x*}', 'a/b/c', true],
  ['a{;x,y}', 'a;x=1;y=2', true],
  ['a{;x}', 'a;x', true],
  ['a{;x}', 'a;y=2', false],
  ['s{?q,page}', 's?q=1&page=2', true],
  ['s{?q,page}', 's?page=2', true],
  ['s{?q,page}', 's', true],
  ['s{?q,page}', 's?other=2', false],
  ['s{?all*}', 's?any=1&other=2', true],
  ['s?a=1{&q}', 's?a=1&q=2', true],
  ['{id:3}', 'abc', true],
  ['x{my-name}', 'x1', true],
])('%s against %s: %s', (template, uri, expected) => {
  expect(fits(template, uri)).toBe(expected)
})

test.each(['{', '}', 'a}b', '{a', '{}', '{?}', '{a{b}}', '{a b}', '{=a}', '{a,}', '{a:x}', 'x'.repeat(3000)])(
  'is no template: %s',
  (text) => {
    expect(UriTemplate.read(text)).toBeUndefined()
  },
)

test('templates that differ only in names that do not show have one shape', () => {
  const shape = (text: string) => UriTemplate.read(text)?.shape
  expect(shape('a://{x}/{+y}')).toBe(shape('a://{one}/{+two}'))
  expect(shape('a://{x}')).not.toBe(shape('a://{+x}'))
  expect(shape('a://{?x}')).not.toBe(shape('a://{?y}'))
  expect(shape('a://{x}')).not.toBe(shape('b://{x}'))
  expect(shape('{x,y}')).not.toBe(shape('{x}'))
})

test('more literal characters say more', () => {
  const literals = (text: string) => UriTemplate.read(text)?.literals ?? 0
  expect(literals('a://maps/{+path}')).toBe(9)
  expect(literals('a://{+path}{?q}')).toBe(4)
})

/** Expands as RFC 6570 says, for strings. */
function expand(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{([+#./;?&]?)([^{}]*)\}/g, (_, operator: string, names: string) => {
    const encode = operator === '+' || operator === '#' ? encodeURI : encodeComponent
    const named = operator !== '' && ';?&'.includes(operator)
    const given = names.split(',').flatMap((name) => {
      const value = values[name]
      if (value === undefined) return []
      if (!named) return [encode(value)]
      return [value === '' && operator === ';' ? name : `${name}=${encode(value)}`]
    })
    const between =
      operator === '' || operator === '+' || operator === '#' ? ',' : operator === '?' ? '&' : operator
    const lead = operator === '+' ? '' : operator
    return given.length === 0 ? '' : lead + given.join(between)
  })
}

function encodeComponent(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
}

test('whatever a template expands to fits it', () => {
  const expression = fc
    .tuple(
      fc.constantFrom('', '+', '#', '.', '/', ';', '?', '&'),
      fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }),
    )
    .map(([operator, names]) => `{${operator}${names.join(',')}}`)
  const literal = fc.constantFrom('x', '/', 'x://y', '?z=', 'aa')
  const template = fc.array(fc.oneof(literal, expression), { maxLength: 8 }).map((parts) => parts.join(''))
  const value = fc.option(fc.string({ unit: 'grapheme', maxLength: 8 }), { nil: undefined })
  fc.assert(
    fc.property(template, fc.record({ a: value, b: value, c: value }), (text, given) => {
      const values = Object.fromEntries(Object.entries(given).filter(([, one]) => one !== undefined))
      expect(fits(text, expand(text, values as Record<string, string>))).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('a hostile template costs its length times that of the URI at most, and stops when the effort is used up', () => {
  const uri = `${'x'.repeat(1_000)}!`
  for (const piece of ['{+a}', '{+a}x', '{a}{b}', '{+a}xx{b}', '{?a}', '{/a}x{+b}']) {
    const text = piece.repeat(Math.floor(2_000 / piece.length))
    const template = UriTemplate.read(`${text}?`)
    const whole = { left: Number.MAX_SAFE_INTEGER }
    expect(template?.fits(uri, whole)).toBe(false)
    expect(Number.MAX_SAFE_INTEGER - whole.left).toBeLessThanOrEqual(4 * (text.length + 1) * (uri.length + 1))
    const little = { left: 1_000 }
    expect(template?.fits(uri, little)).toBe(false)
    // It may end the part that it is at.
    expect(little.left).toBeGreaterThan(-6 * uri.length)
  }
  expect(fits('{+a}', 'x'.repeat(10_000))).toBe(false)
})
