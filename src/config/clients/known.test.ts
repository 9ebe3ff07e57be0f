import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { placesOf } from '../../base/places.ts'
import { knownClients } from './known.ts'

const userFiles = (env: Record<string, string>, platform = 'linux') =>
  Object.fromEntries(
    knownClients(placesOf(env), '/project', env, platform).map((it) => [it.id, it.files[0]?.file]),
  )

test('clients keep their files where they always did', () => {
  expect(userFiles({ HOME: '/home/ada' })).toEqual({
    'claude-code': '/home/ada/.claude.json',
    'claude-desktop': '/home/ada/.config/Claude/claude_desktop_config.json',
    cursor: '/home/ada/.cursor/mcp.json',
    vscode: '/home/ada/.config/Code/User/mcp.json',
    windsurf: '/home/ada/.codeium/windsurf/mcp_config.json',
    zed: '/home/ada/.config/zed/settings.json',
    codex: '/home/ada/.codex/config.toml',
    gemini: '/home/ada/.gemini/settings.json',
    opencode: '/home/ada/.config/opencode/opencode.json',
    goose: '/home/ada/.config/goose/config.yaml',
  })
  expect(userFiles({ HOME: '/Users/ada' }, 'darwin')).toMatchObject({
    'claude-desktop': '/Users/ada/Library/Application Support/Claude/claude_desktop_config.json',
    vscode: '/Users/ada/Library/Application Support/Code/User/mcp.json',
    zed: '/Users/ada/.config/zed/settings.json',
  })
})

test('a client’s own variables move its file; a relative one is nobody’s place', () => {
  const moved = {
    HOME: '/home/ada',
    CLAUDE_CONFIG_DIR: '/srv/claude',
    XDG_CONFIG_HOME: '/srv/config',
    CODEX_HOME: '/srv/codex',
    GEMINI_CLI_HOME: '/srv/gemini',
    OPENCODE_CONFIG: '/srv/open.json',
    GOOSE_PATH_ROOT: '/srv/goose',
    VSCODE_PORTABLE: '/srv/code',
  }
  expect(userFiles(moved)).toMatchObject({
    'claude-code': '/srv/claude/.claude.json',
    'claude-desktop': '/srv/config/Claude/claude_desktop_config.json',
    vscode: '/srv/code/user-data/User/mcp.json',
    zed: '/srv/config/zed/settings.json',
    codex: '/srv/codex/config.toml',
    gemini: '/srv/gemini/.gemini/settings.json',
    opencode: '/srv/open.json',
    goose: '/srv/goose/config/config.yaml',
  })
  expect(userFiles({ HOME: '/home/ada', CODEX_HOME: 'here' })['codex']).toBe('/home/ada/.codex/config.toml')
})

test('of several possible files the one that is there is taken', () => {
  const home = mkdtempSync(join(tmpdir(), 'busbar-known-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const config = (path: string) => join(home, '.config', path)
  mkdirSync(config('opencode'), { recursive: true })
  writeFileSync(config('opencode/opencode.jsonc'), '{}')
  mkdirSync(config('VSCodium/User'), { recursive: true })
  expect(userFiles({ HOME: home })).toMatchObject({
    opencode: config('opencode/opencode.jsonc'),
    vscode: config('VSCodium/User/mcp.json'),
  })
})
