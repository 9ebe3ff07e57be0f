import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { tried } from '../base/thorough.ts'
import { type Document, parseDocument } from './document.ts'
import { recallYaml } from './document-outline.ts'
import type { Path } from './edit/change.ts'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'busbar-cache-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

async function parse(text: string, cache?: string): Promise<Document> {
  const reading = await parseDocument('a.yaml', text, 'yaml', cache)
  if (reading.kind !== 'document') throw new Error('not a document')
  return reading.document
}

function paths(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const steps = Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value)
  return [
    path,
    ...steps.flatMap((step) => paths(Reflect.get(value, step), [...path, step])),
    [...path, 'absent'],
  ]
}

const scalar = fc.oneof(
  fc.stringMatching(/^[a-z ]{0,8}$/),
  fc.string({ maxLength: 6 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('${VAR}', '1.10', 'yes', '0x1f', '~', '- a', '# no', "it's", 'a: b', 'true'),
)
const { data } = fc.letrec((tie) => ({
  data: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('data'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.stringMatching(/^[a-z]{1,5}$/), fc.string({ maxLength: 4 })), tie('data'), {
      maxKeys: 4,
    }),
  ),
}))

test('what is remembered reads exactly as the parser reads, value by value and line by line', async () => {
  const cache = folder()
  const filler = `# ${'x'.repeat(600)}\n`
  let recalled = 0
  await fc.assert(
    fc.asyncProperty(data, fc.constantFrom('block', 'flow'), async (value, style) => {
      const text = filler + stringify({ root: value }, style === 'flow' ? { collectionStyle: 'flow' } : {})
      const plain = await parse(text)
      await parse(text, cache)
      const again = recallYaml(cache, 'a.yaml', text)
      if (again === undefined) return
      recalled++
      expect(again.value).toEqual(plain.value)
      for (const path of paths(plain.value)) {
        expect([path, again.at(path)]).toEqual([path, plain.at(path)])
        const found = path.reduce<unknown>(
          (at, step) => (at === null || at === undefined ? undefined : Reflect.get(Object(at), step)),
          plain.value,
        )
        if (typeof found === 'number' || typeof found === 'boolean')
          expect(again.typed(path)).toBe(plain.typed(path))
      }
    }),
    { numRuns: tried(400) },
  )
  // Otherwise the property would hold because nothing was ever remembered.
  expect(recalled).toBeGreaterThan(tried(100))
})

const TEXT = `# ${'x'.repeat(600)}\nservers:\n  a:\n    command: npx\n    env: { TOKEN: "hunter2-secret" }\n`

test('nothing a person wrote is kept', async () => {
  const cache = folder()
  await parse(TEXT, cache)
  const [name] = readdirSync(cache)
  const kept = readFileSync(join(cache, name ?? ''), 'utf8')
  for (const word of ['hunter2', 'TOKEN', 'npx', 'servers']) expect(kept).not.toContain(word)
  expect(recallYaml(cache, 'a.yaml', TEXT)?.value).toEqual({
    servers: { a: { command: 'npx', env: { TOKEN: 'hunter2-secret' } } },
  })
})

test('another text, a damaged file or a folder others can write to is not believed', async () => {
  const cache = folder()
  await parse(TEXT, cache)
  expect(recallYaml(cache, 'a.yaml', TEXT.replace('npx', 'npy'))).toBeUndefined()
  chmodSync(cache, 0o777)
  expect(recallYaml(cache, 'a.yaml', TEXT)).toBeUndefined()
  chmodSync(cache, 0o700)
  for (const text of ['', '{', '5', '{"at": 0}', '{"at": 0, "map": [[1, 2]]}']) {
    writeFileSync(join(cache, readdirSync(cache)[0] ?? ''), text)
    expect(recallYaml(cache, 'a.yaml', TEXT)).toBeUndefined()
    expect((await parse(TEXT, cache)).value).toBeDefined()
  }
})

test('texts with anchors, tags, escapes or blocks go to the parser', async () => {
  const cache = folder()
  for (const body of [
    'a: &x 1\nb: *x\n',
    'a: !!str 1\n',
    'a: "\\n"\n',
    'a: |\n  text\n',
    'a: one\n  two\n',
    "a: 'it''s'\n",
    'a:\n  <<: { b: 1 }\n',
  ])
    await parse(`# ${'x'.repeat(600)}\n${body}`, cache)
  expect(readdirSync(cache).length).toBeLessThanOrEqual(1)
})

test('the folder does not grow without end', async () => {
  const cache = folder()
  for (let index = 0; index < 150; index++) await parse(`${TEXT}# ${index}\n`, cache)
  expect(readdirSync(cache).length).toBeLessThanOrEqual(64)
})
