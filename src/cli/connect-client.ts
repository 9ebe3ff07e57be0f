// `busbar connect CLIENT`: an agent and a token of its own for a client, written into that client's file.

import { mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256 } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import { withLock } from '../base/lock.ts'
import { type Places, prepareFolder } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import { MASK } from '../base/redact.ts'
import { shellWord } from '../base/shell-word.ts'
import { writeFileAtomic } from '../base/write-file.ts'
import { type ClientText, readClientText, withEntry } from '../config/clients/change.ts'
import { leadsToUs } from '../config/clients/entry.ts'
import { withoutUs } from '../config/clients/former.ts'
import { type ClientScope, ENTRY_NAME, type KnownClient, type Way } from '../config/clients/known.ts'
import {
  type ClientRecord,
  clientRecord,
  dropBackup,
  keepBackup,
  keepClientRecord,
} from '../config/clients/record.ts'
import { dig } from '../config/formats/shape.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { chooseAgent, isOfProjectAlone, makeAgent } from './connect-agent.ts'
import { agree, showDiff } from './connect-show.ts'
import { clientFile, clientNamed, type Route, readScope, routeFor } from './connect-target.ts'
import { newToken, revokeOld } from './connect-token.ts'
import { importServers, newServers } from './import-servers.ts'
import { canAsk, confirm } from './prompt.ts'
import { oneLine } from './review.ts'
import type { Loaded, Session } from './session.ts'

export interface ConnectOptions {
  readonly agent?: string
  readonly servers?: string
  readonly scope?: string
  readonly stdio?: boolean
  readonly 'dry-run'?: boolean
  readonly yes?: boolean
}

export async function connectClient(session: Session, id: string, options: ConnectOptions): Promise<void> {
  const { out } = session
  const scope = readScope(options.scope)
  let loaded = await session.load({ warnings: false })
  const client = clientNamed(loaded.snapshot, id)
  const { file, mark } = clientFile(client, scope)
  const now = await readClientText(client, file)
  if (await offerImport(session, loaded.snapshot, { client, file, scope, now }, options))
    loaded = await session.load({ warnings: false })
  const agent = await chooseAgent(session, loaded, options.agent ?? client.id, options.servers)
  const route = await routeFor(session, loaded.active, client, options.stdio === true)
  const shown = await withEntry(client, file, now, client.entry(wayOf(route, MASK)))
  const diff = await showDiff(session, file, client.syntax, { before: now.text, after: shown })
  const found = now.exists || statSync(mark, { throwIfNoEntry: false }) !== undefined
  if (!found) out.note(`${client.title} was not found here: the file is made where it would look for it.`)
  if (agent.servers)
    out.note(
      `The agent ${agent.name} is added, for: ${agent.servers.map(oneLine).join(', ') || 'no server'}.`,
    )
  const facts = {
    client: client.id,
    file,
    agent: agent.name,
    transport: route.kind,
    ...(route.kind === 'http' ? { url: route.url } : {}),
    found,
    diff,
  }
  if (options['dry-run']) {
    out.answer({ ...facts, written: false }, () => 'Nothing was written.')
    return
  }
  await agree(session, now.exists ? 'Write this?' : 'Make this file?', options.yes === true)
  if (agent.servers) loaded = await makeAgent(session, loaded, agent, scope)
  const { active } = loaded
  await writeEntry(session, active, { client, file, agent: agent.name, route })
  tellRisks(session, loaded, { client, file, scope, agent: agent.name, route })
  out.answer({ ...facts, written: true }, () => [
    `${client.title} is connected as ${agent.name}.`,
    ...nextSteps(client, loaded, agent.name, route),
    `Take it back: busbar connect ${client.id} --undo${scope === 'project' ? ' --scope project' : ''}`,
  ])
}

/** While no other command of ours changes a client's file. */
export async function withClientLock<T>(places: Places, work: () => Promise<T>): Promise<T> {
  prepareFolder(places.state)
  return await withLock(join(places.state, 'clients.lock'), work)
}

/** A file that cannot be written is somebody's decision, not a bug. */
export function writing(file: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!/^(?:EACCES|EPERM|EROFS|ENOSPC|EDQUOT|ENOTDIR|EISDIR|EBUSY)$/.test(reason)) throw error
    throw new Fault('CONFIG_EDIT', `${file} cannot be written (${reason})`, {
      hint: 'check the permissions of the file and its folder; nothing was changed',
      cause: error,
    })
  }
}

// --- internal ---

interface Theirs {
  readonly client: KnownClient
  readonly file: string
  readonly scope: ClientScope
  readonly now: ClientText
}

interface Writing {
  readonly client: KnownClient
  readonly file: string
  readonly agent: string
  readonly route: Route
}

function wayOf(route: Route, token: string): Way {
  if (route.kind === 'stdio') return { ...route, token }
  return { kind: 'http', url: route.url, token }
}

/** The client's own servers could be served by Busbar, too; true when some were taken over. */
async function offerImport(
  session: Session,
  snapshot: Snapshot,
  { client, file, scope, now }: Theirs,
  options: ConnectOptions,
): Promise<boolean> {
  const { out } = session
  const servers = dig(now.value, now.path.slice(0, -1))
  if (!isRecord(servers) || Object.keys(servers).every((name) => name === ENTRY_NAME)) return false
  const found = await newServers(session, snapshot, file)
  if (found.length === 0) return false
  const names = found.map((it) => oneLine(it.name)).join(', ')
  out.note(`${client.title} has servers of its own that Busbar does not know: ${names}`)
  if (options.yes || options['dry-run'] || out.json || !canAsk()) {
    out.note(`  take them over, if you like: busbar import ${client.id}`)
    return false
  }
  if (!(await confirm('Take them over first? They stay there as well.', session.signal))) return false
  await importServers(session, file, { yes: true, scope })
  return true
}

async function writeEntry(
  session: Session,
  active: Snapshot,
  { client, file, agent, route }: Writing,
): Promise<void> {
  const { places } = active
  await withClientLock(places, async () => {
    // Clients write their files, too, and the question took its time.
    const now = await readClientText(client, file)
    const record = clientRecord(places, client.id, file)
    const made = await newToken(session, active, agent)
    let written = false
    try {
      const text = await withEntry(client, file, now, client.entry(wayOf(route, made.token)))
      const original = await originalOf(places, client, now, { file, record })
      let madeFolder: string | undefined
      writing(file, () => {
        madeFolder = mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
        writeFileAtomic(file, text, { mode: 0o600 })
        written = true
      })
      await keepClientRecord(places, client.id, file, {
        client: client.id,
        file,
        agent,
        tokenId: made.id,
        digest: sha256(text),
        at: Date.now(),
        ...original,
        madeFolder: madeFolder ?? record?.madeFolder,
      })
      if (record?.backup !== original.backup) dropBackup(places, record?.backup)
    } catch (error) {
      // What cannot be taken back later is better not there at all.
      if (written && now.exists) writeFileAtomic(file, now.text)
      else if (written) rmSync(file, { force: true })
      await made.revoke()
      throw error
    }
    await revokeOld(session, active, { record, entry: now.entry, agent, keep: made.id })
  })
}

/** Keeps what the file was without us, for an undo; no backup when there was no file. */
async function originalOf(
  places: Places,
  client: KnownClient,
  now: ClientText,
  { file, record }: { readonly file: string; readonly record: ClientRecord | undefined },
): Promise<Pick<ClientRecord, 'backup' | 'rebuilt'>> {
  // Of a file that vanished since, what we keep is the only copy.
  if (!now.exists || record?.digest === sha256(now.text))
    return { backup: record?.backup, rebuilt: record?.rebuilt }
  if (!leadsToUs(now.entry)) return { backup: keepBackup(places, client.id, file, now.text) }
  const text = await withoutUs(places, client, now, { file, record })
  return { backup: keepBackup(places, client.id, file, text), rebuilt: true }
}

function tellRisks(
  { out }: Session,
  { active }: Loaded,
  { file, scope, agent, route }: Writing & { readonly scope: ClientScope },
): void {
  if (((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0)
    out.warn(
      `${file} holds a token now and can be read by other users of this machine; chmod 600 ${shellWord(file)}`,
    )
  if (scope === 'project')
    out.warn(`${file} holds a token now: keep it out of the repository, or connect with --scope user`)
  // By stdio the entry says which project is meant.
  if (scope === 'user' && route.kind === 'http' && isOfProjectAlone(active, agent))
    out.warn(
      `${agent} stands in this project's configuration alone: a gateway of another folder does not know it; busbar agents add ${agent} --scope user`,
    )
  if (active.config.agents[agent]?.enabled === false)
    out.warn(`${agent} is switched off and will get nothing; busbar agents enable ${agent}`)
}

function nextSteps(client: KnownClient, { active }: Loaded, agent: string, route: Route): string[] {
  const { approval = active.config.defaults.approval, servers = [] } = active.config.agents[agent] ?? {}
  return [
    ...(route.kind === 'http' && !route.runs ? ['No gateway is running: start it with busbar up'] : []),
    `Then: ${client.afterwards}.`,
    ...(approval === 'always' && servers.length > 0
      ? [
          `Each of its calls is asked for: busbar approve watch; less often: busbar agents approval ${agent} writes`,
        ]
      : []),
  ]
}
