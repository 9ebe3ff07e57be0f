// A conversation with an agent that runs in this process, for where no gateway does.

import { defaultAgent } from '../agent/identity.ts'
import { approvalView } from '../call/approval-view.ts'
import { type Hub, type HubEvent, hubOf } from '../hub.ts'
import { energyOfAgents } from '../policy/energy-report.ts'
import type { ChatLine, Listener } from './chat-line.ts'
import { safe } from './output.ts'
import type { Loaded, Session } from './session.ts'
import { statusLine } from './status-line.ts'

/** Runs `work` with a hub of its own, which ends with it. */
export async function withLocalLine(
  session: Session,
  { active }: Loaded,
  listener: Listener,
  work: (line: ChatLine) => Promise<void>,
): Promise<void> {
  const { out } = session
  const onEvent = (event: HubEvent) => {
    if (event.type === 'conversation') listener(event)
    else if (event.type === 'approval') {
      const { id, status } = event.approval
      listener({ type: 'approval', id, status })
    } else if (event.type === 'trouble') out.warn(event.message)
  }
  const hub = await hubOf(active, { surface: 'cli', onEvent })
  try {
    await work(lineOf(session, hub))
  } finally {
    await hub.close()
  }
}

// --- internal ---

/** Who answers at the terminal. */
const BY = 'terminal'

function lineOf({ out }: Session, hub: Hub): ChatLine {
  return {
    outlives: false,
    prepare: (agent) => ready(hub, agent ?? defaultAgent(hub.snapshot.config)),
    create: (agent) => hub.conversations.create({ agent }),
    list: (before) => hub.conversations.list({ before, limit: PAGE }),
    get: (id) => hub.conversations.get(id),
    post: async (id, text) => void (await hub.conversations.post(id, text)),
    stop: async (id) => void (await hub.conversations.stop(id)),
    tools: async (agent) =>
      hub
        .as(agent)
        .tools()
        .map(({ address, description }) => ({ name: address, description })),
    energy: async (agent) => {
      await hub.flush()
      return (await energyOfAgents(hub.store, hub.snapshot)).find((energy) => energy.agent === agent)
    },
    approval: async (id) => approvalView(await hub.approvals.get(id), hub.store.invocations),
    answer: async (id, answer) => void (await hub.approvals.answer(id, answer, BY)),
  }

  /** Its servers were started with the hub; a model that is asked at once would know none of their tools. */
  async function ready(of: Hub, agent: string): Promise<void> {
    const line = statusLine(out)
    line.show('starting servers')
    try {
      const { pending, failed } = await of.as(agent).ready({ timeout: PATIENCE })
      for (const { server, error } of failed) out.warn(`${server}: ${error}`)
      if (pending.length > 0) out.note(`still starting: ${safe(pending.join(', '))}`)
    } finally {
      line.end()
    }
  }
}

const PAGE = 1000
/** Milliseconds; a server that comes later is there from the next round on. */
const PATIENCE = 10_000
