// Writes biome.json from the ordered list of layers, so that the linter alone holds the direction of imports.
// A folder may import itself and what stands before it; surfaces may import every layer and the hub, never one another.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LAYERS = [
  'base',
  'secrets',
  'wire',
  'config',
  'connect',
  'store',
  'registry',
  'policy',
  'record',
  'call',
]
const SURFACES = ['gateway', 'agent', 'steward', 'adapters']
const FOLDERS = [...LAYERS, ...SURFACES, 'cli']
const MAX_DEPTH = 4

const climbs = Array.from({ length: MAX_DEPTH }, (_, depth) => '../'.repeat(depth + 1))

function forbid(includes, targets, message) {
  const group = targets.flatMap((target) => climbs.map((climb) => climb + target))
  const options = { patterns: [{ group, message }] }
  return {
    includes,
    linter: { rules: { style: { noRestrictedImports: { level: 'error', options } } } },
  }
}

const layerRules = LAYERS.map((folder, index) => {
  const allowed = LAYERS.slice(0, index + 1)
  const forbidden = FOLDERS.filter((other) => !allowed.includes(other)).map((other) => `${other}/**`)
  return forbid(
    [`src/${folder}/**`],
    [
      ...forbidden,
      'hub.ts',
      'hub-conversations.ts',
      'hub-load.ts',
      'hub-options.ts',
      'hub-servers.ts',
      'index.ts',
      'bin.ts',
    ],
    `src/${folder} may import only: ${allowed.join(', ')}`,
  )
})
const surfaceRules = SURFACES.map((folder) =>
  forbid(
    [`src/${folder}/**`],
    [
      ...SURFACES.filter((other) => other !== folder).map((other) => `${other}/**`),
      'cli/**',
      'index.ts',
      'bin.ts',
    ],
    `src/${folder} may not import another surface or the CLI: they meet in src/hub.ts`,
  ),
)
const cliRule = forbid(['src/cli/**'], ['index.ts', 'bin.ts'], 'src/cli may not import the entry points')

const biome = {
  $schema: './node_modules/@biomejs/biome/configuration_schema.json',
  files: {
    includes: [
      'src/**',
      'test/**',
      'scripts/**',
      'bench/**',
      'examples/**',
      '*.ts',
      '*.mjs',
      '!**/fixtures',
      '!bench/results',
    ],
  },
  formatter: { indentStyle: 'space', lineWidth: 110 },
  javascript: { formatter: { quoteStyle: 'single', semicolons: 'asNeeded' } },
  linter: {
    rules: {
      preset: 'recommended',
      // noPropertyAccessFromIndexSignature asks for the brackets this rule would remove.
      complexity: { useLiteralKeys: 'off' },
      suspicious: {
        noImportCycles: 'error',
        noExplicitAny: 'error',
        // `${VAR}` in a plain string is what this product is about.
        noTemplateCurlyInString: 'off',
      },
      style: {
        noDefaultExport: 'error',
        noExcessiveLinesPerFile: { level: 'error', options: { maxLines: 400 } },
        noNonNullAssertion: 'error',
        useImportType: 'error',
      },
      nursery: { noFloatingPromises: 'error' },
    },
  },
  overrides: [
    ...layerRules,
    ...surfaceRules,
    cliRule,
    { includes: ['*.config.ts', '*.config.mjs'], linter: { rules: { style: { noDefaultExport: 'off' } } } },
  ],
}

// Another folder can be named, to see what would be written.
const folder = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url))
writeFileSync(join(folder, 'biome.json'), `${JSON.stringify(biome, null, 2)}\n`)
