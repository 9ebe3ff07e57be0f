// The rules of the house, checked: each of these fails when its rule is broken.

import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { REQUIREMENTS, type Requirement } from './requirements.ts'

const ROOT = new URL('../../', import.meta.url).pathname

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'busbar-house-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function testSources(): string[] {
  const below = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return ['fixtures', 'node_modules'].includes(entry.name) ? [] : below(path)
      return path.endsWith('.test.ts') ? [path] : []
    })
  return [...below(join(ROOT, 'src')), ...below(join(ROOT, 'test'))].map((file) => readFileSync(file, 'utf8'))
}

/** Ids cited in titles of tests that run. */
function cited(sources: readonly string[]): Set<string> {
  const titles = sources.flatMap((text) => [
    ...text.matchAll(/\btest(?:\.each\([\s\S]*?\]\))?\(\s*(['"`])((?:\[[A-E]\d+\])+)/g),
    ...text.matchAll(/^\s*(['"`])((?:\[[A-E]\d+\])+)/gm),
  ])
  return new Set(titles.flatMap((match) => [...(match[2] ?? '').matchAll(/[A-E]\d+/g)].map(String)))
}

function uncited(rows: readonly Requirement[], ids: ReadonlySet<string>): string[] {
  return rows.filter((row) => row.status !== 'planned' && !ids.has(row.id)).map((row) => row.id)
}

test('the manifest has every row once', () => {
  const count = (letter: string, last: number, first = 1) =>
    Array.from({ length: last - first + 1 }, (_, index) => `${letter}${index + first}`)
  expect(REQUIREMENTS.map((row) => row.id)).toEqual([
    ...count('A', 14, 0),
    ...count('B', 15),
    ...count('C', 13),
    ...count('D', 17),
    ...count('E', 9),
  ])
  for (const row of REQUIREMENTS)
    expect([row.id, row.status === 'partial']).toEqual([row.id, row.missing !== undefined])
})

test('every row that is done or partial is cited by a test, and only known rows are cited', () => {
  const ids = cited(testSources())
  expect(uncited(REQUIREMENTS, ids)).toEqual([])
  const known = new Set(REQUIREMENTS.map((row) => row.id))
  expect([...ids].filter((id) => !known.has(id))).toEqual([])
})

test('the check of rows can fail', () => {
  const ids = cited(["test('[A1][C3] x', () => {})\ntest.skip('[B1] y', () => {})"])
  expect([...ids].sort()).toEqual(['A1', 'C3'])
  expect(uncited([{ id: 'B1', what: '', status: 'done' }], ids)).toEqual(['B1'])
})

test('no test is switched off', () => {
  const off = testSources().flatMap(
    (text) => text.match(/\b(?:test|describe|it)\.(?:skip|only|todo|fails|skipIf|runIf)\(/g) ?? [],
  )
  // One mention stands in the test above, as text.
  expect(off).toEqual(['test.skip('])
})

const planted: [string, string, string, string][] = [
  [
    'an import against the layers',
    'src/base/planted.ts',
    "import { VERSION } from '../cli/version.ts'\n\nexport const planted = VERSION\n",
    'noRestrictedImports',
  ],
  [
    'a cycle',
    'src/config/planted.ts',
    "import { again } from './planted-again.ts'\n\nexport const planted = (): unknown => again\n",
    'noImportCycles',
  ],
  [
    'a floating promise',
    'src/base/planted.ts',
    'async function work(): Promise<void> {}\n\nexport function planted(): void {\n  work()\n}\n',
    'noFloatingPromises',
  ],
  [
    'a file that is too long',
    'src/base/planted.ts',
    `${'// line\n'.repeat(401)}export const planted = 1\n`,
    'noExcessiveLinesPerFile',
  ],
]
for (const [title, name, text, rule] of planted)
  test(`the linter catches ${title}`, () => {
    const folder = temporary()
    const write = (path: string, content: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
    copyFileSync(join(ROOT, 'biome.json'), join(folder, 'biome.json'))
    write('src/cli/version.ts', "export const VERSION = '1'\n")
    write(
      'src/config/planted-again.ts',
      "import { planted } from './planted.ts'\n\nexport const again = (): unknown => planted\n",
    )
    write(name, text)
    const biome = join(ROOT, 'node_modules/.bin/biome')
    const { stdout, stderr, status } = spawnSync(biome, ['lint', name], { cwd: folder, encoding: 'utf8' })
    expect(status).not.toBe(0)
    expect(stdout + stderr).toContain(rule)
  })

test('what is generated is up to date', () => {
  const folder = temporary()
  for (const script of ['layers', 'reference'])
    execFileSync(process.execPath, [`scripts/${script}.mjs`, folder], { cwd: ROOT })
  const files = [
    'biome.json',
    'schema/busbar.schema.json',
    ...['configuration', 'catalog', 'errors'].map((page) => `docs/reference/${page}.md`),
  ]
  for (const file of files) {
    const read = (root: string) => {
      const text = readFileSync(join(root, file), 'utf8')
      // JSON is compared as data: the formatter may have laid it out.
      return file.endsWith('.json') ? JSON.parse(text) : text
    }
    expect([file, read(ROOT)]).toEqual([file, read(folder)])
  }
})

test('the packed package installs and runs by itself', () => {
  const folder = temporary()
  const [{ filename, files }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: ROOT, encoding: 'utf8' }),
  )
  const names: string[] = files.map((file: { path: string }) => file.path)
  expect(names.filter((name) => /^(?:src|test|docs|scripts)\/|\.test\./.test(name))).toEqual([])
  expect(names).toEqual(
    expect.arrayContaining([
      'dist/bin.js',
      'dist/index.js',
      'dist/types/index.d.ts',
      'dist/THIRD-PARTY.txt',
      'schema/busbar.schema.json',
      'LICENSE',
    ]),
  )
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}')
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-save', join(folder, filename)], {
    cwd: folder,
    stdio: 'pipe',
  })
  const env = { PATH: process.env['PATH'], HOME: folder }
  const out = execFileSync(
    join(folder, 'node_modules/.bin/busbar'),
    ['list', '--json', '--mcp-server', 'a=x'],
    { cwd: folder, env, encoding: 'utf8' },
  )
  expect(JSON.parse(out).servers[0].name).toBe('a')
  writeFileSync(
    join(folder, 'use.mjs'),
    "import { loadConfig, Fault } from 'busbar'\nconst snapshot = await loadConfig({ servers: ['a=x y'] })\nconsole.log(snapshot.config.servers.a.args[0], typeof Fault)\n",
  )
  expect(execFileSync(process.execPath, ['use.mjs'], { cwd: folder, env, encoding: 'utf8' })).toBe(
    'y function\n',
  )
})
