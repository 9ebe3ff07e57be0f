// `busbar trust`: shows, in full, what a project's files would run, loosen or open, and asks once.

import { Fault } from '../../base/fault.ts'
import { variablesOf } from '../../config/expand.ts'
import { hazardsOf, settingsHazards } from '../../config/hazards.ts'
import type { Snapshot } from '../../config/snapshot.ts'
import { forgetTrust, recordTrust, type Subject, trustSubjects } from '../../config/trust.ts'
import { maskSecrets } from '../../config/view.ts'
import { acknowledged } from '../acknowledged.ts'
import { command } from '../command.ts'
import { nearPath, placeText, serverNamed } from '../describe.ts'
import type { Output } from '../output.ts'
import { canAsk, confirm } from '../prompt.ts'
import { oneLine, reviewServer, reviewSettings, settingsTitle } from '../review.ts'

interface TrustOptions {
  readonly yes?: boolean
  readonly revoke?: boolean
}

export const spec = command({
  summary: 'see and accept what a project would run',
  words: '[name]',
  options: {
    yes: { short: 'y', about: 'accept without being asked' },
    revoke: { about: 'forget what was accepted' },
  },
  help: `
What stands in a project's file, or in another tool's, is listed but never acted on until you accept it.
Acceptance is by content: a changed command, argument, address, variable or program asks again.

Examples:
  busbar trust
  busbar trust github
  busbar trust --yes --config ci.yaml
  busbar trust --revoke github`,
  run: async (session, [name], options) => {
    const { out, signal } = session
    const { snapshot } = await session.load({ warnings: false })
    if (name !== undefined) serverNamed(snapshot, name)
    const subjects = trustSubjects(snapshot).filter((it) => name === undefined || it.name === name)
    if (options.revoke) {
      const known = subjects.filter((it) => it.state !== 'new')
      await forgetTrust(
        snapshot.places,
        known.map((it) => it.key),
      )
      const files = known.flatMap((it) => it.files)
      await acknowledged(session, snapshot.places, { files, untrusted: true })
      out.answer({ revoked: known.map((it) => it.name) }, () =>
        known.length === 0
          ? 'Nothing was trusted here.'
          : `No longer trusted: ${known.map(title).join(', ')}`,
      )
      return
    }
    const asking = subjects.filter((it) => it.state !== 'trusted')
    if (asking.length === 0) {
      out.answer(
        { trusted: [], pending: [] },
        () => 'Nothing to decide: all of it is trusted, or yours already.',
      )
      return
    }
    for (const line of asking.flatMap((it) => describe(it, snapshot, out))) out.note(line)
    if (!(await agreed(asking, options, out, signal))) {
      out.answer({ trusted: [], pending: asking.map((it) => record(it, snapshot)) }, () => '')
      throw new Fault('NOT_TRUSTED', 'nothing was trusted', {
        hint: canAsk() ? undefined : 'nobody can be asked here; run it in a terminal, or add --yes',
      })
    }
    await recordTrust(snapshot.places, asking)
    const servers = asking.filter(({ kind }) => kind === 'server').map((it) => it.name)
    await acknowledged(session, snapshot.places, { files: asking.flatMap((it) => it.files), servers })
    out.answer(
      { trusted: asking.map((it) => record(it, snapshot)), pending: [] },
      () => `Trusted: ${asking.map(title).join(', ')}`,
    )
  },
})

// --- internal ---

async function agreed(
  asking: readonly Subject[],
  options: TrustOptions,
  out: Output,
  signal: AbortSignal,
): Promise<boolean> {
  if (options.yes) return true
  if (!canAsk() || out.json) return false
  return await confirm(asking.length === 1 ? 'Trust this?' : `Trust these ${asking.length}?`, signal)
}

function title(subject: Subject): string {
  return subject.kind === 'server' ? oneLine(subject.name) : settingsTitle(subject.file)
}

function record(subject: Subject, snapshot: Snapshot): object {
  const { kind, name, file, state, changed } = subject
  const { parts } = subject.content()
  const definition = kind === 'server' ? snapshot.config.servers[name] : undefined
  const hazards = kind === 'settings' ? settingsHazards(parts) : definition ? hazardsOf(definition) : []
  const hides = hidden(subject, snapshot)
  return {
    kind,
    name,
    file,
    state,
    changed,
    parts: maskSecrets(parts),
    variables: variablesOf(parts),
    hazards,
    hides,
  }
}

function describe(subject: Subject, snapshot: Snapshot, out: Output): string[] {
  const { parts, binary } = subject.content()
  const state = subject.state === 'changed' ? out.style('yellow', 'changed since you trusted it') : 'new'
  const program = parts['command'] === undefined ? undefined : (binary?.path ?? 'not found on this machine')
  const body =
    subject.kind === 'settings'
      ? reviewSettings(parts, out)
      : reviewServer(
          {
            parts,
            definition: snapshot.config.servers[subject.name],
            program,
            hides: hidden(subject, snapshot),
          },
          out,
        )
  return [
    '',
    `${out.style('bold', title(subject))}  ${state}`,
    `  in        ${subject.files.map((file) => oneLine(nearPath(file))).join(', ')}`,
    ...body,
    ...(subject.changed.length > 0 ? [`  changed   ${subject.changed.map(oneLine).join(', ')}`] : []),
  ]
}

function hidden(subject: Subject, snapshot: Snapshot): string[] {
  return subject.kind === 'server' ? (snapshot.servers.get(subject.name)?.hides ?? []).map(placeText) : []
}
