// Files of secrets for tests.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Fault } from '../base/fault.ts'
import { type Environment, type Places, placesOf } from '../base/places.ts'
import { openSecrets, type Secrets } from './secrets.ts'

export interface Case {
  readonly places: Places
  readonly file: string
  readonly env: Environment
  open(env?: Environment): Promise<Secrets>
}

export function fresh(): Case {
  const home = mkdtempSync(join(tmpdir(), 'busbar-secrets-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const env = { HOME: home, BUSBAR_HOME: join(home, 'busbar') }
  const places = placesOf(env)
  const open = (more: Environment = {}) => openSecrets(places, { ...env, ...more })
  return { places, env, file: join(places.state, 'secrets.json'), open }
}

/** What tests change in a file of secrets. */
interface Content {
  highest: number
  readonly head: Record<string, unknown>
  entries: Record<string, unknown>[]
}

/** Changes the file as somebody else would; the next reader must notice, however soon it looks. */
export function edit(file: string, change: (content: Content) => void): void {
  const content = JSON.parse(readFileSync(file, 'utf8')) as Content
  change(content)
  writeFileSync(file, JSON.stringify(content))
}

export function codeOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    return (error as Fault).code
  }
  return 'none'
}
