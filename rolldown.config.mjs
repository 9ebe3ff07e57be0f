// One graph with shared chunks: `instanceof Fault` holds across entry points and each command loads only what it needs.
// The small parsers are bundled, so a command reads a few files instead of a few hundred (docs/decisions/003-bundling.md);
// everything listed in `dependencies` stays outside.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { notices } from './scripts/notices.mjs'

const { dependencies, version } = JSON.parse(readFileSync('package.json', 'utf8'))
const bundled = new Set(['zod'])
const outside = Object.keys(dependencies).filter((name) => !bundled.has(name))

function inside(path) {
  return fileURLToPath(new URL(`node_modules/${path}`, import.meta.url))
}

export default {
  input: { bin: 'src/bin.ts', index: 'src/index.ts' },
  platform: 'node',
  plugins: [notices()],
  preserveEntrySignatures: 'allow-extension',
  // jsonc-parser's `main` is a wrapper that no bundler can follow; its `module` is plain.
  // yaml offers its ES modules to browsers only; they are the same code and load faster than its CommonJS.
  resolve: {
    mainFields: ['module', 'main'],
    alias: {
      yaml: inside('yaml/browser/dist/index.js'),
      // Two patch versions of the same package are asked for.
      '@ai-sdk/provider-utils': inside('@ai-sdk/provider-utils/dist/index.mjs'),
    },
  },
  external: [/^node:/, ...outside.map((name) => new RegExp(`^${name}(/|$)`))],
  transform: { define: { __BUSBAR_VERSION__: JSON.stringify(version) } },
  output: {
    dir: 'dist',
    format: 'esm',
    minify: true,
    // One letter beyond Latin-1 and the engine keeps all of a file with two bytes for each letter.
    charset: 'ascii',
    chunkFileNames: 'chunks/[name]-[hash].js',
    sourcemap: true,
    // Every command but help needs all of these; as one file they are opened, compiled and linked once.
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        { name: 'yaml', test: /node_modules\/yaml\/|document-(?:yaml|cache)/, priority: 3 },
        { name: 'json-schema', test: /node_modules\/zod\/.*json-schema/, priority: 5 },
        // The exchanges with authorization servers, which only signing in needs.
        {
          name: 'sign-in',
          test: /node_modules\/(?:@modelcontextprotocol|jose|pkce-challenge)\//,
          priority: 4,
        },
        // What checks arguments: eighty small files otherwise, for which the first call would wait.
        {
          name: 'check',
          test: /node_modules\/(?:ajv|ajv-formats|fast-uri|fast-deep-equal|json-schema-traverse)\//,
          priority: 4,
        },
        { name: 'patterns', test: /node_modules\/re2js\//, priority: 4 },
        // The two model APIs, which only a question to a model needs.
        { name: 'models', test: /node_modules\/(?:@ai-sdk|zod\/v3)\//, priority: 4 },
        // What both of these need.
        {
          name: 'schemas',
          test: /node_modules\/(?:eventsource[a-z-]*|zod\/v4\/(?:classic|locales))\//,
          priority: 4,
        },
        {
          name: 'light',
          test: /src\/(?:base\/(?:fault|suggest|redact|secret-forms|version)|config\/problem|cli\/(?:as-typed|command|output|display-width|exit))\.ts/,
          priority: 2,
        },
        {
          name: 'core',
          test: /node_modules\/(?:zod\/v4\/(?:core|mini)\/|jsonc-parser\/)|src\/(?:base\/|config\/(?!edit\/|document-(?:toml|cache)|schema-json|watch|doctor|clients|plan|write|diff|keep-trust)|cli\/(?:session|describe)\.ts)/,
          priority: 1,
        },
      ],
    },
  },
}
