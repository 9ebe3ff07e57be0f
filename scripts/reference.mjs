// Writes what is derived from the schema and the catalog: the JSON Schema for editors and the reference pages.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CATALOG, CODES, jsonSchema } from '../dist/index.js'

// Another folder can be named, to see what would be written.
const root = process.argv[2] ?? fileURLToPath(new URL('../', import.meta.url))
const schema = jsonSchema()

function type(node) {
  if (node.const !== undefined) return JSON.stringify(node.const)
  if (node.enum) return node.enum.map((word) => `\`${word}\``).join(' \\| ')
  const options = node.anyOf ?? node.oneOf
  if (options) return [...new Set(options.map(type))].join(' or ')
  if (node.type === 'array') return `list of ${type(node.items ?? {})}`
  if (node.type === 'object' && node.additionalProperties && node.additionalProperties !== true)
    return `map of ${type(node.additionalProperties)}`
  if (node.type === 'object') return 'map'
  return (
    { string: 'text', boolean: 'true or false', number: 'number', integer: 'whole number' }[node.type] ??
    'any'
  )
}

function standard(node) {
  if (node.default === undefined || typeof node.default === 'object') return ''
  return `\`${JSON.stringify(node.default)}\``
}

/** The object inside a property, when it has keys of its own. */
function inner(node) {
  if (node.properties) return [['', node]]
  const options = node.anyOf ?? node.oneOf ?? []
  const objects = options.filter((option) => option.properties)
  return objects.map((option) => {
    const kind = option.properties.type?.const
    return [kind ? `, \`type: ${kind}\`` : '', option]
  })
}

function section(path, node, depth) {
  const lines = [`${'#'.repeat(depth)} ${path === '' ? 'The file' : `\`${path}\``}`, '']
  if (node.description) lines.push(node.description, '')
  lines.push('| key | type | default | meaning |', '|---|---|---|---|')
  const below = []
  for (const [key, child] of Object.entries(node.properties)) {
    lines.push(`| \`${key}\` | ${type(child)} | ${standard(child)} | ${child.description ?? ''} |`)
    const at = path === '' ? key : `${path}.${key}`
    for (const [suffix, object] of inner(child)) below.push([`${at}${suffix}`, object])
    const entry = child.additionalProperties
    if (entry?.properties) below.push([`${at}.NAME`, entry])
  }
  lines.push('')
  return [...lines, ...below.flatMap(([at, object]) => section(at, object, Math.min(depth + 1, 4)))]
}

const page = [
  '# Configuration reference',
  '',
  'Made from the schema by `npm run generate`. For an introduction see [configuration](../configuration.md).',
  '',
  ...section('', schema, 2),
]

const catalog = [
  '# Catalog',
  '',
  'Made from the catalog by `npm run generate`. `busbar integrations add NAME` writes an entry with an exact version.',
  '',
  '| name | category | what | needs | package | tools known to only read |',
  '|---|---|---|---|---|---|',
  ...CATALOG.map(
    (it) =>
      `| \`${it.name}\` | ${it.category} | ${it.description} | ${it.variables.map((name) => `\`${name}\``).join(', ') || '–'} | [${it.package.name}](${it.homepage}) ${it.package.version} | ${it.readOnlyTools.length} |`,
  ),
  '',
]

const codes = [
  '# Error codes',
  '',
  'Made from the table in `src/base/fault.ts` by `npm run generate`. With `--json` an error is one JSON object on',
  'stderr: `{code, message, hint, server?}`; a configuration with several problems adds `problems`.',
  '',
  '| code | meaning |',
  '|---|---|',
  ...Object.entries(CODES).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
  '',
]

for (const folder of ['schema', 'docs/reference']) mkdirSync(join(root, folder), { recursive: true })
writeFileSync(join(root, 'schema/busbar.schema.json'), `${JSON.stringify(schema, null, 2)}\n`)
writeFileSync(join(root, 'docs/reference/configuration.md'), `${page.join('\n').trimEnd()}\n`)
writeFileSync(join(root, 'docs/reference/catalog.md'), `${catalog.join('\n').trimEnd()}\n`)
writeFileSync(join(root, 'docs/reference/errors.md'), `${codes.join('\n').trimEnd()}\n`)
