// One client in a process of its own, told what to do line by line:
//   node drive.mjs DRIVER    {"do":"connect","url":…,"folder":…} | {"do":"tools"} | {"do":"call",…} | … on stdin,
// one line of JSON on stdout for each. The agent's token is in BUSBAR_TOKEN.
import { createInterface } from 'node:readline'

const { connect } = await import(`./drivers/${process.argv[2]}.mjs`)
const token = process.env.BUSBAR_TOKEN
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
let client

async function perform({ do: what, ...given }) {
  const seen = []
  const onProgress = ({ progress, total }) => seen.push([progress, total])
  switch (what) {
    case 'connect':
      client = await connect({ ...given, token })
      return { value: client.version ?? null }
    case 'tools':
      return { value: await client.tools() }
    case 'call':
      return { value: await client.call(given.name, given.arguments) }
    case 'progress':
      return { value: await client.call(given.name, given.arguments, onProgress), progress: seen }
    case 'read':
      return { value: await client.read(given.uri) }
    case 'prompt':
      return { value: await client.prompt(given.name, given.arguments) }
    case 'close':
      return { value: (await client.close()) ?? null }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    say(await perform(JSON.parse(line)))
  } catch (error) {
    say({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}
// Whatever a client keeps open after its end (timers, sockets) is not the gateway's concern.
process.exit(0)
