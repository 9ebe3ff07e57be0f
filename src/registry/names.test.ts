import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tried } from '../base/thorough.ts'
import {
  displayName,
  type NamingScheme,
  nativeNameProblem,
  OWN_NAMES,
  pairOf,
  projectedName,
} from './names.ts'

const SCHEMES: readonly NamingScheme[] = ['mcp__s__t', 'mcp_s_t', 's__t', 's_t']
const SUFFIXED = /_[0-9a-f]{10}$/

// Names are kept in approvals and conversations: a change here breaks them.
const golden: [NamingScheme, string, string, string][] = [
  ['mcp__s__t', 'github', 'create_issue', 'mcp__github__create_issue'],
  ['mcp_s_t', 'github', 'create_issue', 'mcp_github_create_issue'],
  ['s__t', 'github', 'create_issue', 'github__create_issue'],
  ['s_t', 'github', 'create_issue', 'github_create_issue'],
  ['mcp__s__t', 'GitHub', 'Create-Issue', 'mcp__GitHub__Create-Issue'],
  ['mcp__s__t', 'my_server', 'do__it', 'mcp__my_server__do__it'],
  ['mcp__s__t', 'a', '_b', 'mcp__a___b'],
  ['mcp__s__t', 'a_', 'b', 'mcp__a__b_?'],
  ['mcp__s__t', 'a__b', 'c', 'mcp__a_b__c_?'],
  ['mcp_s_t', 'my_server', 'run', 'mcp_my_server_run_?'],
  ['s_t', 'a', '_b', 'a__b'],
  ['s_t', 'read', 'file', 'read_file_?'],
  ['mcp_s_t', 'list', 'available_tools', 'mcp_list_available_tools_?'],
  ['mcp__s__t', 'list', 'available_tools', 'mcp__list__available_tools'],
  ['mcp__s__t', 'my.calc', 'add', 'mcp__my_calc__add_?'],
  ['mcp__s__t', 'my calc', 'add', 'mcp__my_calc__add_?'],
  ['mcp__s__t', 'Zürich', 'straße/öffnen', 'mcp__Zurich__stra_e_offnen_?'],
  ['mcp__s__t', '天気', '🌦', 'mcp__server__tool_?'],
  ['s__t', '7zip', 'list', '_7zip__list_?'],
  ['mcp__s__t', '7zip', 'list', 'mcp__7zip__list'],
  ['s__t', 'git', 'show_0123456789', 'git__show_0123456789_?'],
  ['mcp__s__t', 's'.repeat(70), 't'.repeat(70), `mcp__${'s'.repeat(18)}__${'t'.repeat(28)}_?`],
  ['mcp__s__t', 'short', 't'.repeat(70), `mcp__short__${'t'.repeat(41)}_?`],
  ['s_t', 's'.repeat(70), 'list', `${'s'.repeat(48)}_list_?`],
]
for (const [scheme, server, tool, expected] of golden)
  test(`${scheme} of ${server.slice(0, 20)} and ${tool.slice(0, 20)} is ${expected}`, () => {
    const name = projectedName(scheme, server, tool)
    expect(expected.endsWith('?') ? name.replace(/[0-9a-f]{10}$/, '?') : name).toBe(expected)
  })

test('the suffix of a pair never changes', () => {
  expect(projectedName('mcp__s__t', 'my.calc', 'add')).toBe('mcp__my_calc__add_5e49816a4c')
  expect(projectedName('mcp__s__t', 'my calc', 'add')).toBe('mcp__my_calc__add_030ea6bc75')
  expect(projectedName('mcp_s_t', 'list', 'available_tools')).toBe('mcp_list_available_tools_be458a145d')
  expect(projectedName('s_t', '\ud800', '')).toBe('server_tool_1a6e552abf')
})

/** What must hold for every set of pairs. */
function check(scheme: NamingScheme, pairs: Iterable<readonly [string, string]>): void {
  const taken = new Map<string, string>()
  for (const [server, tool] of pairs) {
    const name = projectedName(scheme, server, tool)
    const pair = JSON.stringify([server, tool])
    if (!/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name)) expect.fail(`${pair} gives ${name}`)
    if (OWN_NAMES.has(name)) expect.fail(`${pair} takes ${name}`)
    const other = taken.get(name)
    if (other !== undefined && other !== pair) expect.fail(`${pair} and ${other} give ${name}`)
    taken.set(name, pair)
    const back = pairOf(scheme, name)
    if (SUFFIXED.test(name)) {
      if (back !== undefined) expect.fail(`${name} has a suffix and was read as ${JSON.stringify(back)}`)
    } else if (back?.server !== server || back.tool !== tool)
      expect.fail(`${pair} gives ${name}, read as ${JSON.stringify(back)}`)
  }
}

const NASTY = [
  ...['', 'a', 'b', 'A', '_', '__', '___', 'a_', '_a', 'a_b', 'a__b', 'b_', '_b', 'a__', '__a', 'a_b_c', '-'],
  ...[
    'a-b',
    'a.b',
    'a b',
    'a/b',
    '\u00e4',
    'a\u0308',
    'a\u0000',
    '日本',
    '🌦',
    '\ud800',
    '\udfff',
    'mcp',
    'mcp_',
    '_mcp',
  ],
  ...[
    'list',
    'available_tools',
    'available',
    'tools',
    'list_available',
    'read',
    'file',
    'read_file',
    '7',
    '-a',
  ],
  ...[
    'ListMcpResources',
    'constructor',
    '__proto__',
    '0123456789',
    'a_0123456789',
    'abcdefabcd',
    '_0123456789',
  ],
  ...['a'.repeat(53), 'a'.repeat(64), 'a'.repeat(65), 'b'.repeat(5000), 'server', 'tool'],
]

for (const scheme of SCHEMES) {
  test(`${scheme}: all pairs over nasty parts have names of their own`, () => {
    check(
      scheme,
      NASTY.flatMap((server) => NASTY.map((tool) => [server, tool] as const)),
    )
  })

  test(`${scheme}: what a suffixed name looks like cannot be taken by another pair`, () => {
    const first = NASTY.flatMap((server) => NASTY.map((tool) => [server, tool] as const))
    const names = first
      .map(([server, tool]) => projectedName(scheme, server, tool))
      .filter((name, index) => SUFFIXED.test(name) && index % 8 === 0)
    // Each name again as the tool of a server, and split at each underscore.
    const forged = names.flatMap((name) =>
      [...name.matchAll(/_+/g)].flatMap(({ index, 0: { length } }) => [
        [name.slice(0, index), name.slice(index + length)] as const,
        [name.slice(0, index), name.slice(index + 1)] as const,
        [name.slice(0, index + 1), name.slice(index + length)] as const,
      ]),
    )
    const unprefixed = forged.map(([server, tool]) => [server.replace(/^mcp_+/, ''), tool] as const)
    check(scheme, [...first, ...forged, ...unprefixed])
  })

  test(`${scheme}: 10,000 random pairs have names of their own`, () => {
    const part = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'b', '_', '__', '-', 'mcp', '.') }),
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.string({ maxLength: 12 }),
      fc.string({ unit: fc.constantFrom('a', 'é', '\ud83c', '日'), minLength: 40, maxLength: 120 }),
      fc.constantFrom(...NASTY),
    )
    check(scheme, fc.sample(fc.tuple(part, part), { numRuns: tried(10_000), seed: 7 }))
  })
}

test('no name but a plain one is read as a pair', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('mcp', '_', 'a', '0123456789', 'é') }))
  fc.assert(
    fc.property(fc.constantFrom(...SCHEMES), text, (scheme, name) => {
      const pair = pairOf(scheme, name)
      if (pair !== undefined) expect(projectedName(scheme, pair.server, pair.tool)).toBe(name)
    }),
    { numRuns: tried(5000) },
  )
  for (const name of OWN_NAMES)
    for (const scheme of SCHEMES) expect(pairOf(scheme, name), name).toBeUndefined()
  expect(pairOf('mcp__s__t', 'github__create_issue')).toBeUndefined()
  expect(pairOf('mcp_s_t', 'mcp__a_b')).toBeUndefined()
  expect(pairOf('s__t', 'a__')).toBeUndefined()
  expect(pairOf('s__t', '__a')).toBeUndefined()
  expect(pairOf('s_t', '')).toBeUndefined()
})

test('a further server never renames an existing tool', () => {
  const before = projectedName('mcp__s__t', 'my.calc', 'add')
  const others = ['my calc', 'my_calc', 'my-calc', 'My.Calc'].map((server) =>
    projectedName('mcp__s__t', server, 'add'),
  )
  expect(projectedName('mcp__s__t', 'my.calc', 'add')).toBe(before)
  expect(new Set([before, ...others]).size).toBe(5)
})

test('a native name is never taken, not even one that looks like a suffixed name', () => {
  const plain = projectedName('s__t', 'git', 'log')
  const first = projectedName('s__t', 'git', 'log', new Set([plain]))
  expect(first).toMatch(/^git__log_[0-9a-f]{10}$/)
  const second = projectedName('s__t', 'git', 'log', new Set([plain, first]))
  expect(second).toMatch(/^git__log_[0-9a-f]{10}$/)
  expect(second).not.toBe(first)
  expect(projectedName('s__t', 'git', 'log', new Set(['other']))).toBe(plain)
})

test('people read server:tool', () => {
  expect(displayName('github', 'create_issue')).toBe('github:create_issue')
})

const native: [string, string | undefined][] = [
  ['read_file', undefined],
  ['Read-File2', undefined],
  ['a'.repeat(64), undefined],
  ['', 'is empty'],
  ['a'.repeat(65), 'is longer than 64 characters'],
  ['read file', 'has characters other than letters, digits, _ and -'],
  ['read.file', 'has characters other than letters, digits, _ and -'],
  ['größe', 'has characters other than letters, digits, _ and -'],
  ['read_file\n', 'has characters other than letters, digits, _ and -'],
]
for (const [name, problem] of native)
  test(`as a native name ${JSON.stringify(name.slice(0, 20))} ${problem ?? 'is good'}`, () => {
    expect(nativeNameProblem(name)).toBe(problem)
  })
