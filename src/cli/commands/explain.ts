// `busbar explain AGENT SERVER[/TOOL]`: the decision, step by step.

import type { ExplainedStep } from '../../policy/explain.ts'
import { asTyped } from '../as-typed.ts'
import { command } from '../command.ts'
import { nearPath } from '../describe.ts'
import { EXIT } from '../exit.ts'
import { safe } from '../output.ts'
import { withServers } from '../servers.ts'

export const spec = command({
  summary: 'why an agent may call a tool or not',
  words: '<agent> <server[/tool]>',
  help: `
Goes through the very steps a call goes through, each with the file and line that decides it, and names the command that
would change the answer. No server is started: what a tool is said to do is known from its server's last run.
Exit 6 when the answer is deny.

Examples:
  busbar explain intern github/delete_repo
  busbar explain cto/reviewer github --json`,
  run: async (session, [agent = '', address = '']) => {
    const { out } = session
    const loaded = await session.load({ warnings: false })
    await withServers(session, loaded, async (servers) => {
      const told = await servers.explain(agent, address)
      const { verdict, reason, risk, fix } = told
      out.answer(told, () => [
        `${out.style('bold', verdict)}: ${reason}`,
        '',
        ...out.table(
          ['STEP', 'SAYS', 'BECAUSE', 'WHERE'],
          told.steps.map((step) => [step.rule, step.outcome, step.detail, whereOf(step)]),
        ),
        ...(risk === undefined ? [] : ['', `Risk: ${risk}`]),
        ...(fix === undefined
          ? []
          : ['', `${verdict === 'deny' ? 'To allow it' : 'To be asked less'}: ${asTyped(fix)}`]),
      ])
      if (!told.known)
        out.note(
          `${safe(address.split(/[/:]/, 1)[0] ?? address)} was never up, so what its tools are said to do is not known yet`,
        )
      if (verdict === 'deny') process.exitCode = EXIT.denied
    })
  },
})

// --- internal ---

function whereOf({ file, line }: ExplainedStep): string {
  if (file === undefined) return ''
  return `${nearPath(file)}${line === undefined ? '' : `:${line}`}`
}
