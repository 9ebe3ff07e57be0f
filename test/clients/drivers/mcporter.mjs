// mcporter, a program that connects anew for each command.
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { textOf } from '../text.mjs'

const PROGRAM = join(import.meta.dirname, '../node_modules/mcporter/dist/cli.js')

export async function connect({ url, token, folder }) {
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'mcporter.json')
  const busbar = { baseUrl: url, headers: { Authorization: 'Bearer ${BUSBAR_TOKEN}' } }
  writeFileSync(config, JSON.stringify({ mcpServers: { busbar }, imports: [] }))
  // It looks for other programs' configurations below the home.
  const { NODE_COMPILE_CACHE } = process.env
  const quiet = { PATH: '', MCPORTER_OAUTH_NO_BROWSER: '1' }
  const env = { ...quiet, HOME: folder, BUSBAR_TOKEN: token, NODE_COMPILE_CACHE }
  const run = async (...args) => {
    const words = [PROGRAM, '--config', config, ...args, '--no-oauth']
    return (await promisify(execFile)(process.execPath, words, { env, cwd: folder })).stdout
  }
  return {
    tools: async () => JSON.parse(await run('list', 'busbar', '--json')).tools.map((tool) => tool.name),
    async call(name, given) {
      const args = ['--args', JSON.stringify(given), '--output', 'json']
      const value = JSON.parse(await run('call', `busbar.${name}`, ...args))
      // Where a tool gives structured content, mcporter prints that alone.
      return value.content === undefined ? JSON.stringify(value) : textOf(value)
    },
    read: async (uri) => JSON.parse(await run('resource', 'busbar', uri, '--json')).contents[0].text,
    close: async () => {},
  }
}
