import { expect, test } from 'vitest'
import { type Document, parseDocument } from './document.ts'

async function parse(file: string, text: string): Promise<Document> {
  const reading = await parseDocument(file, text)
  if (reading.kind !== 'document') throw new Error(JSON.stringify(reading))
  return reading.document
}

const line = (document: Document, ...path: (string | number)[]) => document.at(path)?.line

test('[C3] YAML knows the line of every key and element, through anchors and merges', async () => {
  const document = await parse(
    'a.yaml',
    'base: &base\n  x: 1\nlist:\n  - one\n  - two\nuses:\n  <<: *base\n  y: 2\n"odd key": { deep: [1, 2] }\n',
  )
  expect(line(document, 'base', 'x')).toBe(2)
  expect(line(document, 'list', 1)).toBe(5)
  expect(line(document, 'uses', 'y')).toBe(8)
  expect(line(document, 'odd key', 'deep', 1)).toBe(9)
  expect(line(document, 'uses', 'absent', 'deeper')).toBe(6)
  expect(document.value).toMatchObject({ uses: { x: 1, y: 2 } })
})

test('[C3] JSON knows lines with comments, trailing commas and a byte-order mark', async () => {
  const document = await parse('a.json', '\uFEFF{\n  // c\n  "a": {\n    "b": [1,\n      2,],\n  },\n}')
  expect(line(document, 'a')).toBe(3)
  expect(line(document, 'a', 'b', 1)).toBe(5)
  expect(document.value).toEqual({ a: { b: [1, 2] } })
})

test('[C3] TOML knows tables, dotted and quoted keys', async () => {
  const document = await parse(
    'a.toml',
    'x = 1\n\n[mcp_servers.a]\ncommand = "x"\nenv.K = "v"\n\n[mcp_servers."b c"]\nurl = "y"\n',
  )
  expect(line(document, 'mcp_servers', 'a')).toBe(3)
  expect(line(document, 'mcp_servers', 'a', 'command')).toBe(4)
  expect(line(document, 'mcp_servers', 'a', 'env', 'K')).toBe(5)
  expect(line(document, 'mcp_servers', 'b c', 'url')).toBe(8)
})

test('numbers are kept as typed', async () => {
  const yaml = await parse('a.yaml', 'v: 1.10\nn: 0x1F\nb: yes\nt: true\n')
  expect([yaml.typed(['v']), yaml.typed(['n']), yaml.typed(['t'])]).toEqual(['1.10', '0x1F', 'true'])
  const json = await parse('a.json', '{"v": 1.10, "big": 12345678901234567890}')
  expect([json.typed(['v']), json.typed(['big'])]).toEqual(['1.10', '12345678901234567890'])
})

test('[C11] a key called __proto__ is a key', async () => {
  for (const document of [
    await parse('a.json', '{"__proto__": {"x": 1}}'),
    await parse('a.yaml', '__proto__:\n  x: 1\n'),
  ]) {
    expect(Object.keys(document.value as object)).toEqual(['__proto__'])
    expect(Reflect.get({}, 'x')).toBeUndefined()
  }
})

test('a file full of aliases is refused instead of unfolded', async () => {
  const levels = Array.from(
    { length: 12 },
    (_, index) => `a${index + 1}: &a${index + 1} [${Array(9).fill(`*a${index}`).join(', ')}]`,
  )
  const reading = await parseDocument('a.yaml', `a0: &a0 [x]\n${levels.join('\n')}\n`)
  expect(reading.kind).toBe('broken')
})
