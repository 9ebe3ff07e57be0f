// Shows the command line at work on the configuration beside this file, in a folder of its own that is removed again.
// Nothing is installed, started or contacted.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const binary = fileURLToPath(new URL('../../dist/bin.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'busbar-tour-'))
const env = { ...process.env, BUSBAR_HOME: join(folder, 'home'), DOCS_TOKEN: '' }
copyFileSync(new URL('busbar.yaml', import.meta.url), join(folder, 'busbar.yaml'))

function say(text) {
  console.log(`\n${text}`)
}

function busbar(args, expected = 0) {
  console.log(`\n$ busbar ${args.map((word) => (/[\s"]/.test(word) ? `'${word}'` : word)).join(' ')}`)
  const { status, stdout, stderr } = spawnSync(process.execPath, [binary, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  process.stdout.write(stdout)
  process.stdout.write(stderr)
  if (status !== expected) throw new Error(`exit ${status} instead of ${expected}`)
}

try {
  say('A team of agents and the servers they share, from one file:')
  busbar(['list'])
  busbar(['agents', 'list'])
  say('Each value knows its file and line; a secret stays a reference:')
  busbar(['get', 'docs'])
  say('Nothing in a project file runs before a person has seen it:')
  busbar(['trust', '--yes'])
  say('Editing keeps every comment and every other byte:')
  const before = readFileSync(join(folder, 'busbar.yaml'), 'utf8').split('\n')
  busbar(['add', 'notes', '--agent', 'cto', '--', 'npx', '-y', '@example/notes@1.0.0'])
  const after = readFileSync(join(folder, 'busbar.yaml'), 'utf8').split('\n')
  for (const line of after) if (!before.includes(line)) console.log(`+ ${line}`)
  say('A typo is caught when the file is read, with the line and what was meant:')
  const broken = readFileSync(join(folder, 'busbar.yaml'), 'utf8').replace(
    'servers: [docs]',
    'servers: [docz]',
  )
  writeFileSync(join(folder, 'typo.yaml'), broken.replace('description: The', 'descripton: The'))
  busbar(['config', 'check', '--config', 'typo.yaml'], 1)
  say(`Use it for real:
  busbar import --dry-run     what your other tools already have
  busbar integrations list    what the catalog offers
  busbar --help`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
