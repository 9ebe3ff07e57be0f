// Parts of the sources that the library does not offer, as plain JavaScript beside the packages they need.
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** `parts` names what is wanted and the file below `src` that has it. */
export async function fromSources(folder, parts) {
  const input = join(folder, 'entry.ts')
  const lines = Object.entries(parts).map(
    ([name, file]) => `export { ${name} } from ${JSON.stringify(join(ROOT, 'src', file))}\n`,
  )
  writeFileSync(input, lines.join(''))
  const file = join(folder, 'entry.mjs')
  const external = ['@photostructure/sqlite']
  const bundle = await rolldown({ input, platform: 'node', logLevel: 'silent', external })
  await bundle.write({ file, format: 'esm', codeSplitting: false })
  await bundle.close()
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return import(pathToFileURL(file).href)
}
