// `busbar prompt AGENT`: the section of its prompt that names its servers.

import { actorOf } from '../../policy/access.ts'
import { promptSection } from '../../policy/prompt.ts'
import { command } from '../command.ts'

export const spec = command({
  summary: 'what an agent is told of its servers',
  words: '<agent>',
  help: `
Only servers that the agent may use and that can start are named. The lead (lead:, else the agent called ceo) is also told
who has what. A worker is written agent/worker.

Examples:
  busbar prompt cto
  busbar prompt cto/reviewer --json`,
  run: async (session, [agent = '']) => {
    const { out } = session
    const { active } = await session.load({ warnings: false })
    actorOf(agent, active)
    const section = promptSection(active, agent)
    if (section === '')
      out.warn(`${agent} is told nothing: it has no server that can start (busbar agents list)`)
    out.answer({ agent, section }, () => (section === '' ? [] : section.split('\n')))
  },
})
