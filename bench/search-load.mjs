// The search as one module, from the sources.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

export async function loadSearch() {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-bench-'))
  try {
    const bundle = await rolldown({ input: 'src/registry/search.ts', platform: 'node' })
    const file = join(folder, 'search.mjs')
    await bundle.write({ file })
    await bundle.close()
    return await import(pathToFileURL(file).href)
  } finally {
    await rm(folder, { recursive: true })
  }
}
