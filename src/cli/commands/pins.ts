// `busbar pins`: tools whose definition changed since it was accepted, what changed, and accepting it.

import { Fault } from '../../base/fault.ts'
import { shellWord } from '../../base/shell-word.ts'
import { nearest } from '../../base/suggest.ts'
import type { Snapshot } from '../../config/snapshot.ts'
import { diffLines } from '../../policy/pin-lines.ts'
import type { PinDiff, ShownPin } from '../../policy/pin-shown.ts'
import { visible } from '../../policy/pin-text.ts'
import { command, type Group } from '../command.ts'
import type { Output } from '../output.ts'
import { type Pinned, pinned } from '../pinned.ts'
import { canAsk, confirm } from '../prompt.ts'
import { oneLine } from '../review.ts'
import type { Session } from '../session.ts'

export const spec: Group = {
  fallback: 'list',
  commands: {
    list: command({
      summary: 'list the tools that were seen, those that changed first',
      words: '[server]',
      help: `
A tool is pinned as it was when it was first seen. One that its server defines anew is neither listed nor called until
you accept it. Flags are what should make you look: hidden characters, orders to the model, other servers' tools.

Examples:
  busbar pins list
  busbar pins list github --json`,
      run: async (session, [server]) => await list(session, server),
    }),
    diff: command({
      summary: 'show what changed in a tool',
      words: '<server/tool>',
      options: { full: { about: 'whole texts, also what stayed the same' } },
      help: `
What a server says of itself is SERVER/#instructions.

Examples:
  busbar pins diff github/create_issue
  busbar pins diff 'github/#instructions' --full`,
      run: async (session, [address = ''], { full = false }) => await diff(session, address, full),
    }),
    accept: command({
      summary: 'accept a changed tool, or all of a server',
      words: '<server[/tool]>',
      options: { yes: { short: 'y', about: 'accept without being asked' } },
      help: `
Shows what changed and asks. Exactly what was shown is accepted: a tool that changes again meanwhile is not.

Examples:
  busbar pins accept github/create_issue
  busbar pins accept github --yes`,
      run: async (session, [what = ''], { yes = false }) => await accept(session, what, yes),
    }),
  },
}

// --- internal ---

async function list(session: Session, server: string | undefined): Promise<void> {
  const { out } = session
  const { active } = await session.load({ warnings: false })
  await pinned(session, active, async (board) => {
    const pins = [...(await board.list(server))].sort((one, other) => urgency(other) - urgency(one))
    if (server !== undefined && pins.length === 0) checkServer(active, server)
    out.answer({ pins }, () => {
      if (pins.length === 0)
        return server === undefined
          ? 'No tool was seen yet. Run: busbar tools'
          : `No tool of ${server} was seen yet. Run: busbar tools ${shellWord(server)}`
      return out.table(
        ['TOOL', 'STATE', 'SINCE', 'FLAGS'],
        pins.map((pin) => [visible(pin.address), pin.state, moment(sinceOf(pin)), flagNames(pin)]),
      )
    })
    const changed = pins.find(({ state }) => state === 'changed')
    if (changed) out.note(`see what changed: busbar pins diff ${word(changed.address)}`)
  })
}

async function diff(session: Session, address: string, full: boolean): Promise<void> {
  const { out } = session
  const { server, tool } = partsOf(address)
  const { active } = await session.load({ warnings: false })
  await pinned(session, active, async (board) => {
    const found = await board.diff(server, tool)
    out.answer(found, () =>
      found.changes.length === 0
        ? [`${visible(found.address)} is as it was accepted.`, ...flagLines(out, found)]
        : [...described(out, found, full), '', `To accept it: busbar pins accept ${word(found.address)}`],
    )
  })
}

async function accept(session: Session, what: string, yes: boolean): Promise<void> {
  const { out } = session
  const { active } = await session.load({ warnings: false })
  await pinned(session, active, async (board) => {
    const diffs = await waiting(board, active, what)
    if (diffs.length === 0) {
      out.answer({ accepted: [], pending: [] }, () => `Nothing to accept: ${what} is as it was accepted.`)
      return
    }
    // Nothing is cut short: what is not shown cannot be agreed to.
    for (const one of diffs) for (const line of [...described(out, one, true), '']) out.note(line)
    if (!yes && !(canAsk() && !out.json && (await confirm(question(diffs), session.signal)))) {
      out.answer({ accepted: [], pending: diffs }, () => '')
      throw new Fault('NOT_TRUSTED', 'nothing was accepted', {
        hint: canAsk() ? undefined : 'nobody can be asked here; run it in a terminal, or add --yes',
      })
    }
    const accepted: { address: string; fingerprint: string }[] = []
    for (const { server, tool, address, pending } of diffs) {
      if (pending === undefined) continue
      await board.accept(server, tool, pending.fingerprint)
      accepted.push({ address, fingerprint: pending.fingerprint })
    }
    out.answer(
      { accepted, pending: [] },
      () => `Accepted: ${accepted.map(({ address }) => visible(address)).join(', ')}`,
    )
  })
}

/** What of this waits for a person. */
async function waiting(board: Pinned, active: Snapshot, what: string): Promise<PinDiff[]> {
  const cut = what.indexOf('/')
  if (cut >= 0) {
    const { server, tool } = partsOf(what)
    const found = await board.diff(server, tool)
    return found.pending === undefined ? [] : [found]
  }
  const pins = await board.list(what)
  if (pins.length === 0) {
    checkServer(active, what)
    throw new Fault('TOOL_UNKNOWN', `no tool of ${what} was seen yet`, {
      hint: `run: busbar tools ${shellWord(what)}`,
      server: what,
    })
  }
  const changed = pins.filter(({ state }) => state === 'changed')
  const diffs: PinDiff[] = []
  for (const { server, tool } of changed) diffs.push(await board.diff(server, tool))
  return diffs.filter(({ pending }) => pending !== undefined)
}

function partsOf(address: string): { server: string; tool: string } {
  const cut = address.indexOf('/')
  if (cut <= 0 || cut === address.length - 1)
    throw new Fault('USAGE', `"${address}" is no tool`, { hint: 'write server/tool; see: busbar pins list' })
  return { server: address.slice(0, cut), tool: address.slice(cut + 1) }
}

function checkServer({ servers }: Snapshot, server: string): void {
  if (servers.has(server)) return
  const near = nearest(server, servers.keys())
  throw new Fault('SERVER_UNKNOWN', `no server is called "${server}"`, {
    hint: near ? `did you mean "${near}"?` : 'run: busbar list',
    server,
  })
}

function described(out: Output, pin: PinDiff, full: boolean): string[] {
  const mark = { path: '  ', same: '      ', removed: '    − ', added: '    + ' } as const
  const style = { path: 'bold', same: 'dim', removed: 'red', added: 'green' } as const
  return [
    `${out.style('bold', visible(pin.address))}  changed ${moment(sinceOf(pin))}`,
    ...diffLines(pin.changes, { full }).map(({ kind, text }) =>
      out.style(style[kind], `${mark[kind]}${text}${kind === 'path' ? ':' : ''}`),
    ),
    ...flagLines(out, pin),
  ]
}

function flagLines(out: Output, { flags }: ShownPin): string[] {
  return flags.map(({ kind, detail }) => `  ${out.style('yellow', 'look:')} ${kind}, ${oneLine(detail)}`)
}

function flagNames({ flags }: ShownPin): string {
  return [...new Set(flags.map(({ kind }) => kind))].join(', ')
}

function question(diffs: readonly PinDiff[]): string {
  return diffs.length === 1 ? 'Accept this?' : `Accept these ${diffs.length}?`
}

function urgency({ state, flags }: ShownPin): number {
  return (state === 'changed' ? 2 : 0) + (flags.length > 0 && state !== 'removed' ? 1 : 0)
}

function sinceOf({ state, pending, acceptedAt, removedAt }: ShownPin): number {
  if (state === 'changed') return pending?.seenAt ?? acceptedAt
  return removedAt ?? acceptedAt
}

/** For a command line, and harmless on the screen. */
function word(address: string): string {
  return shellWord(visible(address))
}

function moment(epoch: number): string {
  return new Date(epoch).toISOString().replace('T', ' ').slice(0, 19)
}
