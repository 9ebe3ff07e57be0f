// Changing what an agent may do, in the file that says it.

import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import type { Change } from '../config/edit/change.ts'
import { errorsOf } from '../config/load.ts'
import type { Target } from '../config/plan.ts'
import { grant, holderPath, revoke, setOf } from '../config/plan-access.ts'
import { configFault } from '../config/problem.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { placeOf } from '../config/tree.ts'
import { actorOf } from '../policy/access.ts'
import { decide, type Step } from '../policy/decide.ts'
import { Rulebook } from '../policy/facts.ts'
import { placeText } from './describe.ts'
import { layerTarget, makeEdits } from './edit.ts'
import type { Session } from './session.ts'

/** Gives an agent a server or a tool, and makes sure that it has it afterwards. */
export async function grantTo(session: Session, id: string, pattern: string): Promise<void> {
  const snapshot = await session.snapshot()
  checkServer(snapshot, pattern)
  const { after, changed } = await change(session, snapshot, id, (file) => grant(file, id, pattern))
  const barred = stillBarred(after, id, pattern)
  if (barred)
    throw new Fault('CONFIG_EDIT', `${id} still may not: ${barred.detail} (${whereOf(after, barred)})`, {
      hint:
        barred.rule === 'deny'
          ? `busbar agents grant ${id} '${barred.pattern}'`
          : `see: busbar explain ${id} ${pattern}`,
    })
  session.out.answer({ agent: id, granted: pattern, changed }, () =>
    changed ? `${id} may use ${pattern} now.` : `${id} may use ${pattern} already.`,
  )
}

export async function revokeFrom(session: Session, id: string, pattern: string): Promise<void> {
  const snapshot = await session.snapshot()
  const { after, changed } = await change(session, snapshot, id, (file) => revoke(file, id, pattern))
  if (!pattern.includes('*') && !pattern.includes('?') && !stillBarred(after, id, pattern))
    throw new Fault('CONFIG_EDIT', `${id} may still use ${pattern}`, {
      hint: `see why: busbar explain ${id} ${pattern}`,
    })
  session.out.answer({ agent: id, revoked: pattern, changed }, () =>
    changed ? `${id} may not use ${pattern} any more.` : `${id} may not use ${pattern} already.`,
  )
}

export async function setAgent(
  session: Session,
  id: string,
  key: 'enabled' | 'approval',
  value: boolean | string,
  said: string,
): Promise<void> {
  const snapshot = await session.snapshot()
  const { changed } = await change(session, snapshot, id, (file) => setOf(file, id, key, value))
  session.out.answer({ agent: id, [key]: value, changed }, () => said)
}

// --- internal ---

async function change(
  session: Session,
  snapshot: Snapshot,
  id: string,
  plan: (file: Target) => Change[],
): Promise<{ after: Snapshot; changed: boolean }> {
  actorOf(id, snapshot)
  const [agent = ''] = id.split('/')
  // The topmost file that says something about it decides.
  const layer = snapshot.layers
    .filter(({ source }) => source.format.ours && source.scope !== 'flag' && source.scope !== 'managed')
    .filter(
      ({ source }) => holderPath({ format: source.format, value: source.document.value }, id) !== undefined,
    )
    .at(-1)
  if (layer === undefined)
    throw new Fault('CONFIG_EDIT', `${id} is written in a file that is not edited`, {
      hint: `edit it by hand: ${placeText(placeOf(snapshot.tree, ['agents', agent]))}`,
    })
  const target = layerTarget(snapshot, layer.source.file)
  if (plan({ format: layer.source.format, value: layer.source.document.value }).length === 0)
    return { after: snapshot, changed: false }
  const { after } = await makeEdits(session, snapshot, [{ target, plan, meant: { agents: [agent] } }])
  return { after, changed: true }
}

/** The step that stands in the way of a plain server or tool; patterns are not asked about. */
function stillBarred(after: Snapshot, id: string, pattern: string): Step | undefined {
  if (/[*?]/.test(pattern)) return undefined
  const errors = errorsOf(after)
  if (errors.length > 0) throw configFault(errors)
  const cut = pattern.indexOf('/')
  const server = cut < 0 ? pattern : pattern.slice(0, cut)
  const book = new Rulebook(after)
  const steps: Step[] = []
  const decision = decide(
    {
      enabled: true,
      grants: book.grants(actorOf(id, after)),
      server: book.server(server),
      available: true,
      tool: cut < 0 ? undefined : pattern.slice(cut + 1),
    },
    (step) => steps.push(step),
  )
  return decision.verdict === 'deny' ? steps.at(-1) : undefined
}

function whereOf(after: Snapshot, { path }: Step): string {
  return path === undefined ? 'no place' : placeText(placeOf(after.tree, path))
}

function checkServer({ servers }: Snapshot, pattern: string): void {
  const [server = ''] = pattern.split('/')
  if (/[*?]/.test(server) || servers.has(server)) return
  const near = nearest(server, servers.keys())
  throw new Fault('SERVER_UNKNOWN', `no server is called "${server}"`, {
    server,
    hint: near ? `did you mean "${near}"?` : 'run: busbar list',
  })
}
