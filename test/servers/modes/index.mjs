// Which file holds which mode. Files load on demand: a fixture should start fast.

const FILES = {
  plain: ['plain'],
  timing: ['slow', 'hanging', 'hang-call'],
  exits: ['crash-call', 'crash-loop', 'ignore-sigterm', 'wrapper', 'double-fork'],
  pipes: ['banner', 'verbatim', 'partial', 'stderr-flood', 'no-read', 'close-stdout', 'close-stdin'],
  discover: [
    'silent-discover',
    'exit-discover',
    'wedge-discover',
    'choke-discover',
    'null-id-discover',
    'invalid-params-discover',
    'cut-discover',
  ],
  large: ['huge', 'deep', 'big-numbers'],
  lists: ['endless-pages', 'pages', 'storm', 'changing'],
  elicit: ['elicit'],
  content: ['content'],
  'wrong-ids': ['wrong-ids'],
  'hostile-text': ['hostile-text'],
  telltale: ['telltale'],
  'http-refusals': ['retry-after', 'redirect', 'html-error', 'unauthorized', 'sse-only'],
  'http-streams': ['session-loss', 'stream-cut', 'huge-body', 'drip', 'slow-headers'],
  'http-headers': ['header-echo', 'x-mcp-header'],
}

export const MODES = Object.values(FILES).flat()

/** @param {string} name @returns {Promise<(options: object) => import('../core.mjs').Mode>} */
export async function loadMode(name) {
  const entry = Object.entries(FILES).find(([, modes]) => modes.includes(name))
  if (!entry) throw new Error(`unknown mode: ${name}; one of ${MODES.join(', ')}`)
  const { modes } = await import(`./${entry[0]}.mjs`)
  return modes[name]
}
