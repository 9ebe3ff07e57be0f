// A plugin for the bundler: writes the licences of every package whose code went into the bundle beside it.
import { readdirSync, readFileSync } from 'node:fs'
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
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  if (!file) throw new Error(`${name} is bundled and has no licence file`)
  return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}`
}
