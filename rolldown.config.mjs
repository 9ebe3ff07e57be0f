// One graph with shared chunks: `instanceof Fault` holds across entry points and each command loads only what it needs.
// The small parsers are bundled, so a command reads a few files instead of a few hundred (docs/decisions/003-bundling.md);
// everything listed in `dependencies` stays outside.
import { readFileSync } from 'node:fs'

const { dependencies, version } = JSON.parse(readFileSync('package.json', 'utf8'))
const bundled = new Set(['zod'])
const outside = Object.keys(dependencies).filter((name) => !bundled.has(name))

export default {
  input: { bin: 'src/bin.ts', index: 'src/index.ts' },
  platform: 'node',
  external: [/^node:/, ...outside.map((name) => new RegExp(`^${name}(/|$)`))],
  transform: { define: { __BUSBAR_VERSION__: JSON.stringify(version) } },
  output: {
    dir: 'dist',
    format: 'esm',
    minify: { compress: true, mangle: false, codegen: false },
    chunkFileNames: 'chunks/[name]-[hash].js',
    sourcemap: true,
  },
}
