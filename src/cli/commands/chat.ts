// `busbar chat`: a conversation with the built-in agent.

import { likelyAgent } from '../../agent/identity.ts'
import { type ChatInput, chatInput } from '../chat-input.ts'
import { type ChatEvent, type ChatLine, findConversation } from '../chat-line.ts'
import { ChatRoom } from '../chat-room.ts'
import { command } from '../command.ts'
import { gatewayRuns } from '../gateway-client.ts'
import { canAsk } from '../prompt.ts'
import { type Session, startDespiteErrors } from '../session.ts'
import { teller } from '../up-log.ts'

export const spec = command({
  summary: 'talk to the built-in agent',
  options: {
    agent: { value: 'name', about: 'the agent in whose name it acts' },
    conversation: { value: 'id', about: 'go on with an earlier one; the last digits of its id are enough' },
  },
  help: `
The agent runs in the gateway where one does, else in this process. It needs a model: ANTHROPIC_API_KEY, or OPENAI_API_KEY, or
OPENAI_BASE_URL and BUSBAR_MODEL for one on this machine.

Questions are answered inline, Ctrl-C stops the turn, /help says what else there is. Without a terminal each line of the input
is a message, and answers go to stdout; with --json all that happens does, one event a line.

Examples:
  busbar chat
  busbar chat --agent cto
  echo "what is in the notes?" | busbar chat`,
  run: async (session, _, options) => {
    const loaded = await session.load()
    startDespiteErrors(loaded.snapshot, teller(session))
    const { active } = loaded
    const release = session.hold()
    let room: ChatRoom | undefined
    // What is told while an earlier conversation is being read may be the end of its turn.
    const early: ChatEvent[] = []
    const listener = (event: ChatEvent) => {
      if (room) room.tell(event)
      else early.push(event)
    }
    const work = async (line: ChatLine) => {
      const { agent } = options
      const terminal = canAsk() && Boolean(process.stdout.isTTY) && !session.out.json
      const id = options.conversation && (await findConversation(line, options.conversation))
      if (id === undefined) await line.prepare(agent)
      const conversation = id === undefined ? undefined : await line.get(id)
      // The gateway's configuration may be another: who answers there, it decides.
      const likely = agent ?? likelyAgent(active.config)
      room = new ChatRoom({ session, line, conversation, agent, likely, terminal })
      for (const event of early.splice(0)) room.tell(event)
      await talk(session, room, terminal)
    }
    try {
      if (await gatewayRuns(active.places, session.signal)) {
        const { withGatewayLine } = await import('../chat-gateway.ts')
        await withGatewayLine(session, loaded, listener, work)
      } else {
        const { withLocalLine } = await import('../chat-local.ts')
        await withLocalLine(session, loaded, listener, work)
      }
    } finally {
      release()
    }
  },
})

// --- internal ---

async function talk(session: Session, room: ChatRoom, terminal: boolean): Promise<void> {
  const input: ChatInput = chatInput(terminal, () => room.interrupt())
  try {
    await room.talk(input)
  } finally {
    input.close()
    // An input that nobody reads any more would keep the process.
    process.stdin.pause()
    if (session.signal.aborted) process.stdin.destroy()
  }
}
