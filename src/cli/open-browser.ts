// Opens an address in the person's browser: no shell, the address as one argument, and nothing to wait for.

import { spawn } from 'node:child_process'
import type { Environment } from '../base/places.ts'

/** Whether there is a screen to open a browser on. Without one, programs that open addresses take over the terminal. */
export function hasScreen(env: Environment, platform = process.platform): boolean {
  if (platform === 'darwin' || platform === 'win32') return true
  return Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'] || env['WSL_DISTRO_NAME'] || env['BROWSER'])
}

/** Resolves to whether some program took the address. */
export async function openBrowser(
  url: string,
  env: Environment,
  platform = process.platform,
): Promise<boolean> {
  const { protocol, href } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') return false
  for (const [program, ...args] of openers(env, platform))
    if (program !== undefined && (await started(program, [...args, href], env))) return true
  return false
}

// --- internal ---

function openers(env: Environment, platform: NodeJS.Platform): readonly (readonly string[])[] {
  if (platform === 'darwin') return [['open']]
  if (platform === 'win32') return [['rundll32', 'url.dll,FileProtocolHandler']]
  return env['WSL_DISTRO_NAME'] ? [['wslview'], ['xdg-open']] : [['xdg-open']]
}

function started(program: string, args: readonly string[], env: Environment): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'ignore', detached: true, shell: false, env: { ...env } })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
