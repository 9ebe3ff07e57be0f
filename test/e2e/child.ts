// A process of a test's own, made of sources of ours.

import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

/** A file of this folder as plain JavaScript, beside the packages it needs. */
export async function buildChild(root: string, name: string): Promise<string> {
  const file = join(root, 'child.mjs')
  const bundle = await rolldown({
    input: join(import.meta.dirname, name),
    platform: 'node',
    logLevel: 'silent',
    external: ['@photostructure/sqlite'],
  })
  await bundle.write({ file, format: 'esm', codeSplitting: false })
  await bundle.close()
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(root, 'node_modules'))
  return file
}
