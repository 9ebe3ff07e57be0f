// The command line shared by all test servers.
import { appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

/** @param {string[]} argv */
export function readOptions(argv) {
  const { values } = parseArgs({
    args: argv,
    options: {
      mode: { type: 'string', default: 'plain' },
      transport: { type: 'string', default: 'stdio' },
      port: { type: 'string', default: '0' },
      era: { type: 'string', default: 'both' },
      name: { type: 'string' },
      // A variant of the mode; README.md lists them.
      case: { type: 'string' },
      delay: { type: 'string', default: '1000' },
      // The only legacy version to accept.
      protocol: { type: 'string' },
      // Answer with event streams rather than JSON bodies; HTTP only.
      sse: { type: 'boolean', default: false },
      // Milliseconds after which a server that no signal ends gives up by itself.
      lifetime: { type: 'string', default: '600000' },
    },
  })
  return {
    ...values,
    name: values.name ?? values.mode,
    port: Number(values.port),
    delay: Number(values.delay),
    lifetime: Number(values.lifetime),
  }
}

/** Lets tests count processes: one line per server process. */
export function logSpawn() {
  const file = process.env['SPAWN_LOG']
  if (file) appendFileSync(file, `START ${process.pid}\n`)
}

/** The one line a listening server prints. @param {string} url */
export function announce(url) {
  process.stdout.write(`${JSON.stringify({ url })}\n`)
}
