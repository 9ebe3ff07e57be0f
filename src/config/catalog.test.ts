import { expect, test } from 'vitest'
import { CATALOG, type CatalogEntry, catalogEntry, pinnedArgs } from './catalog.ts'

// A name, or a name with the project's folder as default.
const REFERENCE = /^\$\{(\w+)(?::-\$\{workspaceFolder\}\/[\w.]+)?\}$/

// Busbar gives this one itself: the project folder. No person has to set it.
const GIVEN = 'workspaceFolder'

function referenced(entry: CatalogEntry): string[] {
  const found = [...entry.args, ...Object.values(entry.env)].flatMap((text) =>
    text.includes(':-') ? [] : (REFERENCE.exec(text)?.[1] ?? []),
  )
  return [...new Set(found)].filter((name) => name !== GIVEN).sort()
}

function sample(registry: 'npm' | 'pypi'): CatalogEntry {
  return {
    name: 'sample',
    category: 'test',
    description: 'Sample -- test',
    variables: [],
    command: registry === 'npm' ? 'npx' : 'uvx',
    args: ['-y', 'sample@latest'],
    env: {},
    package: { registry, name: 'sample', version: 'latest', known: '1.2.3' },
    readOnlyTools: [],
    homepage: 'https://example.com',
  }
}

test('[A9] offers the fifteen servers, each name once', () => {
  expect(CATALOG.map((entry) => entry.name)).toEqual([
    'github',
    'linear',
    'notion',
    'playwright',
    'slack-mcp',
    'stripe',
    'filesystem',
    'memory',
    'everything',
    'fetch',
    'git',
    'postgres',
    'sqlite',
    'brave-search',
    'sentry',
  ])
})

test.each([
  ['github', 'development', 'GitHub -- code, issues, PRs', ['GITHUB_TOKEN']],
  ['linear', 'project-management', 'Linear -- issues, cycles', ['LINEAR_API_KEY']],
  ['notion', 'knowledge', 'Notion -- docs, wikis', ['NOTION_TOKEN']],
  ['playwright', 'automation', 'Playwright -- browser automation', []],
  ['slack-mcp', 'communication', 'Slack -- messaging', ['SLACK_BOT_TOKEN', 'SLACK_TEAM_ID']],
  ['stripe', 'finance', 'Stripe -- payments', ['STRIPE_SECRET_KEY']],
])('[A9] %s has its category, description and variables', (name, category, description, variables) => {
  expect(catalogEntry(name)).toMatchObject({ name, category, description, variables })
})

test('[A9] playwright stays at 0.0.68, every other one floats until it is added', () => {
  const fixed = CATALOG.filter((entry) => entry.package.version !== 'latest')
  expect(fixed.map((entry) => [entry.name, entry.package.version, entry.args])).toEqual([
    ['playwright', '0.0.68', ['-y', '@playwright/mcp@0.0.68']],
  ])
})

test('[A3] env values are references and nothing else', () => {
  for (const entry of CATALOG)
    for (const value of Object.values(entry.env)) expect(value, entry.name).toMatch(REFERENCE)
})

test('[A3] the variables listed are exactly those referred to', () => {
  for (const entry of CATALOG) expect(referenced(entry), entry.name).toEqual([...entry.variables].sort())
})

test('[A3] the token a person names is handed on under the name the package reads', () => {
  expect(catalogEntry('github')?.env).toEqual({ GITHUB_PERSONAL_ACCESS_TOKEN: '${GITHUB_TOKEN}' })
  expect(catalogEntry('postgres')?.env).toEqual({ DSN: '${DATABASE_URL}' })
})

test('no entry uses a shell, a shell character or a secret argument', () => {
  for (const entry of CATALOG) {
    expect(['npx', 'uvx'], entry.name).toContain(entry.command)
    expect(entry.command === 'npx', entry.name).toBe(entry.package.registry === 'npm')
    for (const argument of entry.args) {
      // A reference is filled in before the process starts, with no shell between; all else is plain.
      const name = REFERENCE.exec(argument)?.[1]
      if (name === undefined) expect(argument, entry.name).toMatch(/^[\w@./-]+$/)
      else expect(name, entry.name).not.toMatch(/TOKEN|KEY|SECRET|PASSWORD|URL|DSN/i)
    }
  }
})

test('[A9] pinning replaces exactly the package argument', () => {
  for (const entry of CATALOG) {
    const pinned = pinnedArgs(entry, '12.34.56')
    const changed = pinned.filter((argument, index) => argument !== entry.args[index])
    expect(pinned, entry.name).toHaveLength(entry.args.length)
    expect(changed, entry.name).toEqual([`${entry.package.name}@12.34.56`])
    expect(pinned.join(' '), entry.name).not.toContain('@latest')
  }
})

test('[A9] every entry can be pinned to the version known at release', () => {
  for (const entry of CATALOG)
    expect(pinnedArgs(entry, entry.package.known), entry.name).toContain(
      `${entry.package.name}@${entry.package.known}`,
    )
})

test('accepts the forms exact versions have in each registry', () => {
  for (const version of ['1.2.3', '2025.4.8', '1.52.0-alpha-2025-03-26', '1.0.0-rc.1+build.5'])
    expect(pinnedArgs(sample('npm'), version)).toEqual(['-y', `sample@${version}`])
  for (const version of ['2025.4.7', '0.6', '1.0rc1', '1.0.post1'])
    expect(pinnedArgs(sample('pypi'), version)).toEqual(['-y', `sample@${version}`])
})

test('refuses a version that is not exact, so no answer of a registry can name another package', () => {
  for (const version of [
    'latest',
    '',
    '^1.2.3',
    '1',
    '1.2',
    '1.2.x',
    'npm:other@1.0.0',
    'https://a/b.tgz',
    '1.2.3 -c',
  ])
    expect(() => pinnedArgs(sample('npm'), version), version).toThrow('not an exact npm version')
  for (const version of ['latest', '', '1.*', '>=1.2', '1.2@https://a/b', '1.2 -c'])
    expect(() => pinnedArgs(sample('pypi'), version), version).toThrow('not an exact pypi version')
})

test('read-only tools are named once each', () => {
  for (const { name, readOnlyTools } of CATALOG)
    expect(new Set(readOnlyTools).size, name).toBe(readOnlyTools.length)
})

test('an unknown name has no entry', () => {
  expect(catalogEntry('githb')).toBeUndefined()
  expect(catalogEntry('constructor')).toBeUndefined()
})
