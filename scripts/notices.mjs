// A plugin for the bundler: writes the licences of every package whose code went into the bundle beside it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'

const FOLDER = `${sep}node_modules${sep}`

export function notices() {
  return {
    name: 'notices',
    generateBundle(_options, bundle) {
      const folders = new Set()
      for (const chunk of Object.values(bundle))
        for (const [id, { renderedLength }] of Object.entries(chunk.modules ?? {}))
          if (renderedLength > 0 && id.includes(FOLDER)) folders.add(packageFolder(id))
      const source = [...folders].sort().map(notice).join('\n\n')
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source: `${source}\n` })
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
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = existsSync(folder) && readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  // A package that only names its licence is held to that.
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : `Licence: ${license}`
  return `${name} ${version}\n${'-'.repeat(name.length + version.length + 1)}\n${text}`
}
