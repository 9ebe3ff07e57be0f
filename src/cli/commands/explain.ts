// `busbar explain AGENT SERVER[/TOOL]`: the decision, step by step.

import { Fault } from '../../base/fault.ts'
import { verdictOn } from '../../call/admit.ts'
import type { Step } from '../../policy/decide.ts'
import { type ExplainedStep, explain } from '../../policy/explain.ts'
import { command } from '../command.ts'
import { nearPath } from '../describe.ts'
import { EXIT } from '../exit.ts'
import type { Output } from '../output.ts'
import { withHub } from '../private-hub.ts'

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
    const { server, tool } = partsOf(address)
    await withHub(session, loaded, {}, async (hub) => {
      const actor = hub.actor(agent)
      const steps: Step[] = []
      const native = tool === undefined && hub.context.registry.native(server) !== undefined
      const target = native ? { server: '', tool: server } : { server, tool }
      const decision = verdictOn(hub.context, actor, target, (step) => steps.push(step))
      const told = explain(loaded.active, { agent, ...target }, decision, steps)
      const { verdict, reason, risk, fix } = told
      out.answer({ agent, address, ...told }, () => [
        `${out.style('bold', verdict)}: ${reason}`,
        '',
        ...out.table(
          ['STEP', 'SAYS', 'BECAUSE', 'WHERE'],
          told.steps.map((step) => [step.rule, step.outcome, step.detail, whereOf(step)]),
        ),
        ...(risk === undefined ? [] : ['', `Risk: ${risk}`]),
        ...(fix === undefined
          ? []
          : ['', `${verdict === 'deny' ? 'To allow it' : 'To be asked less'}: ${fix}`]),
      ])
      unknownNote(out, hub.context.manager.find(target.server)?.known ?? true, target.server)
      if (verdict === 'deny') process.exitCode = EXIT.denied
    })
  },
})

// --- internal ---

function partsOf(address: string): { server: string; tool: string | undefined } {
  const cut = address.search(/[/:]/)
  if (cut < 0) return { server: address, tool: undefined }
  const [server, tool] = [address.slice(0, cut), address.slice(cut + 1)]
  if (server !== '' && tool !== '') return { server, tool }
  throw new Fault('USAGE', `"${address}" names no tool`, { hint: 'write server or server/tool' })
}

function whereOf({ file, line }: ExplainedStep): string {
  if (file === undefined) return ''
  return `${nearPath(file)}${line === undefined ? '' : `:${line}`}`
}

function unknownNote(out: Output, known: boolean, server: string): void {
  if (!known) out.note(`${server} was never up, so what its tools are said to do is not known yet`)
}
