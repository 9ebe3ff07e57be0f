// `busbar approve`: what agents ask a person for, and the answers.

import { Fault } from '../../base/fault.ts'
import { MOST_LISTED } from '../../policy/approvals.ts'
import type { Rule } from '../../store/policy.ts'
import { withDesk } from '../approvals.ts'
import { watchApprovals } from '../approve-watch.ts'
import { command, type Group } from '../command.ts'
import { denyAll } from '../deny-all.ts'
import type { Output } from '../output.ts'
import type { Session } from '../session.ts'
import { approvalLines, oneLine, shortId } from '../show-approval.ts'
import { statusLine } from '../status-line.ts'

const REMEMBER = {
  remember: {
    value: 'what',
    about: 'also for later calls: tool (by this agent), or server (all of its tools)',
  },
} as const

export const spec: Group = {
  fallback: 'list',
  commands: {
    list: command({
      summary: 'what waits for an answer',
      options: {
        agent: { value: 'name', about: 'only what this agent asks' },
        all: { about: 'also what was answered' },
      },
      help: `
Examples:
  busbar approve list
  busbar approve list --agent cto --json`,
      run: async (session, _, { agent, all }) => {
        const { active } = await session.load({ warnings: false })
        await withDesk(session, active, async (desk) => {
          const approvals = await desk.list(all ? 'all' : 'pending', agent)
          const isCut =
            approvals.length >= MOST_LISTED && (all || (await desk.statistics(0)).pending > approvals.length)
          if (isCut)
            session.out.warn(
              `there are more than these ${MOST_LISTED}: ${all ? 'only the latest are listed' : `${(await desk.statistics(0)).pending} wait in all, and those that wait the longest are listed`}`,
            )
          session.out.answer({ approvals }, () =>
            approvals.length === 0
              ? 'Nothing waits for an answer.'
              : approvals.flatMap((approval, index) => [
                  ...(index === 0 ? [] : ['']),
                  ...approvalLines(session.out, approval),
                ]),
          )
          const [first] = approvals
          if (first?.status === 'pending')
            session.out.note(`\nanswer: busbar approve allow ${shortId(first.id)}   or: busbar approve watch`)
        })
      },
    }),
    allow: command({
      summary: 'allow one call',
      words: '<id>',
      options: REMEMBER,
      help: `
The end of the id is enough. The answer is good for this very call, once: the same agent, tool and arguments.

Examples:
  busbar approve allow 3f2a9c01
  busbar approve allow 3f2a9c01 --remember tool`,
      run: async (session, [id = ''], { remember }) => await answer(session, id, 'allow', remember),
    }),
    deny: command({
      summary: 'deny one call, or all that wait',
      words: '[id]',
      options: {
        ...REMEMBER,
        all: { about: 'whatever waits now' },
        agent: { value: 'name', about: 'with --all: only what this agent asks' },
      },
      help: `
Examples:
  busbar approve deny 3f2a9c01
  busbar approve deny 3f2a9c01 --remember tool
  busbar approve deny --all --agent cto`,
      run: async (session, [id], { remember, all, agent }) => {
        if (all) await denyWaiting(session, { id, remember, agent })
        else if (agent !== undefined)
          throw new Fault('USAGE', '--agent goes with --all', {
            hint: `run: busbar approve deny --all --agent ${agent}`,
          })
        else if (id === undefined)
          throw new Fault('USAGE', 'which question?', { hint: 'busbar approve deny ID, or: --all' })
        else await answer(session, id, 'deny', remember)
      },
    }),
    watch: command({
      summary: 'answer questions as they come',
      help: `
Shows who asks, the tool, its arguments and what is different from the last call; one key answers. Without a terminal, and
with --json, each question is printed once, one line each.

Examples:
  busbar approve watch
  busbar approve watch --json | my-notifier`,
      run: async (session) => {
        const { active } = await session.load({ warnings: false })
        await watchApprovals(session, (work) => withDesk(session, active, work))
      },
    }),
    rules: command({
      summary: 'what is remembered for later calls',
      words: '[remove] [id]',
      help: `
Examples:
  busbar approve rules
  busbar approve rules remove 3f2a9c01`,
      run: async (session, [action, id]) => await rules(session, action, id),
    }),
  },
}

// --- internal ---

async function answer(
  session: Session,
  id: string,
  decision: 'allow' | 'deny',
  remember: string | undefined,
): Promise<void> {
  if (remember !== undefined && remember !== 'tool' && remember !== 'server')
    throw new Fault('USAGE', `--remember is "${remember}"; expected tool or server`)
  const { active } = await session.load({ warnings: false })
  await withDesk(session, active, async (desk) => {
    const approval = await desk.answer(id, { decision, remember })
    const [agent, address, server] = [approval.agent, approval.address, approval.server].map(oneLine)
    // What is remembered may be less than was asked for.
    const kept = approval.remember
    const later =
      kept === undefined ? '' : `, and from now on ${kept === 'tool' ? address : `all of ${server}`}`
    session.out.answer({ approval }, () =>
      decision === 'allow'
        ? `${agent} may call ${address} once with these arguments${later}.`
        : `${agent} may not call ${address} with these arguments${later}.`,
    )
  })
}

async function denyWaiting(
  session: Session,
  {
    id,
    remember,
    agent,
  }: { id: string | undefined; remember: string | undefined; agent: string | undefined },
): Promise<void> {
  if (id !== undefined) throw new Fault('USAGE', 'either an id or --all', { hint: 'leave one of them out' })
  if (remember !== undefined)
    throw new Fault('USAGE', '--remember is said of one question', {
      hint: 'to switch an agent off: busbar agents disable NAME',
    })
  const { active } = await session.load({ warnings: false })
  await withDesk(session, active, async (desk) => {
    const line = statusLine(session.out)
    try {
      const denied = await denyAll(desk, agent, line, session.signal)
      line.end()
      const whose = agent === undefined ? '' : ` of ${oneLine(agent)}`
      session.out.answer({ denied }, () =>
        denied.length === 0
          ? `Nothing${whose} waits for an answer.`
          : `Denied ${denied.length} question${denied.length === 1 ? '' : 's'}${whose}.`,
      )
    } finally {
      line.end()
    }
  })
}

async function rules(session: Session, action: string | undefined, id: string | undefined): Promise<void> {
  if (action !== undefined && (action !== 'remove' || id === undefined))
    throw new Fault('USAGE', `"${action}" is not understood`, { hint: 'busbar approve rules remove ID' })
  const { active } = await session.load({ warnings: false })
  await withDesk(session, active, async (desk) => {
    const { out } = session
    if (id !== undefined) {
      const rule = await desk.removeRule(id)
      out.answer({ rule }, () => `Forgotten: ${oneLine(ruleText(rule))}.`)
      return
    }
    const all = await desk.rules()
    out.answer({ rules: all }, () => (all.length === 0 ? 'Nothing is remembered.' : ruleTable(out, all)))
  })
}

function ruleTable(out: Output, all: readonly Rule[]): string[] {
  return out.table(
    ['ID', 'SAYS', 'AGENT', 'FOR', 'SINCE', 'BY'],
    all.map(({ id, decision, agent, server, tool, identity, createdAt, note }) => [
      shortId(id),
      decision,
      agent ?? 'every agent',
      `${oneLine(scopeText(server, tool))}${decision === 'allow' && server !== '' && identity === undefined ? UNBOUND : ''}`,
      new Date(createdAt).toISOString().slice(0, 16).replace('T', ' '),
      note ?? '',
    ]),
  )
}

/** Of a version that did not write down what ran under the server's name: it opens nothing, whatever runs there now. */
const UNBOUND = ' (no longer: bound to no server)'

function ruleText({ decision, agent, server, tool }: Rule): string {
  return `${decision} ${scopeText(server, tool)} for ${agent ?? 'every agent'}`
}

function scopeText(server: string, tool: string | undefined): string {
  if (server === '') return tool ?? 'every native tool'
  return tool === undefined ? `${server}/*` : `${server}/${tool}`
}
