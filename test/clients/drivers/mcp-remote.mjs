// mcp-remote, the program that lends clients with nothing but stdio a remote server; its client is the official one.
import { join } from 'node:path'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { faceOf } from './sdk1.mjs'

const PROGRAM = join(import.meta.dirname, '../node_modules/mcp-remote/dist/proxy.js')

export const connect = (place) => through('legacy', place)

/** `protocol` is what it speaks to the gateway: `legacy`, or `auto` for the newest that the gateway knows. */
export async function through(protocol, { url, token, folder }) {
  const options = ['--transport', 'http-only', '--protocol', protocol, '--header', 'Authorization:${AUTH}']
  return await faceOf(
    new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM, url, ...options],
      // Its state goes into the test's folder, and a sign-in that it must not start would find no browser.
      env: { PATH: '', HOME: folder, MCP_REMOTE_CONFIG_DIR: folder, AUTH: `Bearer ${token}` },
      stderr: 'inherit',
    }),
  )
}
