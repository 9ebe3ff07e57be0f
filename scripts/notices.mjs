// A plugin for the bundler: writes the licences of every package whose code went into the bundle beside it.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'

const FOLDER = `${sep}node_modules${sep}`

export function notices() {
  return {
    name: 'notices',
    generateBundle(_options, bundle) {
      const folders = new Set()
      for (const chunk of Object.values(bundle))
        for (const [id, { renderedLength }] of Object.entries(chunk.modules ?? {}))
          if (renderedLength > 0 && id.includes(FOLDER)) folders.add(packageFolder(id))
      const source = [...folders]
        .sort()
        .map(notice)
        .join(`\n\n${'-'.repeat(80)}\n\n`)
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY.txt', source: `${source}\n` })
    },
  }
}

/** Of a file, the folder of its package: one name below the last `node_modules`, two for a scope. */
function packageFolder(id) {
  const start = id.lastIndexOf(FOLDER) + FOLDER.length
  const [first, second] = id.slice(start).split(sep)
  return id.slice(0, start) + (first.startsWith('@') ? join(first, second) : first)
}

function notice(folder) {
  const { name, version } = manifest(folder)
  const file = licenceFile(folder) ?? licenceBeside(folder)
  if (!file) throw new Error(`${name} is bundled and has no licence file`)
  return `${name} ${version}\n\n${readFileSync(file, 'utf8').trim()}`
}

function manifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function licenceFile(folder) {
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  return file && join(folder, file)
}

/** Some projects put it into some of their packages only: another one of the same scope, repository and licence has it. */
function licenceBeside(folder) {
  const own = manifest(folder)
  const scope = dirname(folder)
  if (!basename(scope).startsWith('@')) return undefined
  for (const entry of readdirSync(scope)) {
    const other = manifest(join(scope, entry))
    if (other.license === own.license && other.repository?.url === own.repository?.url) {
      const file = licenceFile(join(scope, entry))
      if (file) return file
    }
  }
  return undefined
}
