// A conversation at the terminal: lines go out, what happens comes in, and neither waits for the other.

import type { WholeConversation } from '../agent/conversation.ts'
import type { Turn } from '../agent/entries.ts'
import { Fault } from '../base/fault.ts'
import type { ChatInput, ChatText } from './chat-input.ts'
import type { ChatEvent, ChatLine } from './chat-line.ts'
import { ChatQuestions } from './chat-questions.ts'
import { ChatScreen } from './chat-screen.ts'
import type { Session } from './session.ts'

export interface RoomOptions {
  readonly session: Session
  readonly line: ChatLine
  /** One to go on with; else one is begun with the first thing that is said. */
  readonly conversation: WholeConversation | undefined
  /** In whose name one is begun, if the person said so. */
  readonly agent: string | undefined
  /** Who will probably answer, until that is known. */
  readonly likely: string | undefined
  /** Whether a person sits at it. */
  readonly terminal: boolean
}

export class ChatRoom {
  readonly #session: Session
  readonly #line: ChatLine
  readonly #wanted: string | undefined
  /** Of the conversation, once there is one. */
  #id: string | undefined
  #agent: string | undefined
  readonly #terminal: boolean
  readonly #screen: ChatScreen
  readonly #questions: ChatQuestions
  readonly #left = new Latch<undefined>()
  #input: ChatInput | undefined
  #state: 'idle' | 'working' | 'stopping' | 'over' = 'idle'
  /** The last entry that was shown, and the last of those that were there before. */
  #seen = 0
  readonly #recalled: number
  #settled = new Latch<void>()
  #leaving = false
  /** How the last turn failed. */
  #failure: Fault | undefined
  #broken: Error | undefined
  /** Events are shown one after another, though some need an answer of the other end first. */
  #showing: Promise<void> = Promise.resolve()

  constructor({ session, line, conversation, agent, likely, terminal }: RoomOptions) {
    this.#session = session
    this.#line = line
    this.#wanted = agent
    this.#id = conversation?.id
    this.#agent = conversation?.agent ?? likely
    this.#terminal = terminal
    this.#screen = new ChatScreen(session.out, terminal)
    this.#questions = new ChatQuestions(session.out, line, this.#screen)
    this.#recalled = conversation?.messages.at(-1)?.seq ?? 0
    this.#seen = this.#recalled
    if (conversation === undefined) this.#screen.welcome()
    else this.#screen.recall(conversation)
    if (conversation?.status === 'working') this.#state = 'working'
  }

  /** Until the person leaves, the input ends or the conversation does. */
  async talk(input: ChatInput): Promise<void> {
    this.#input = input
    const { signal } = this.#session
    const leave = () => this.#leave()
    signal.addEventListener('abort', leave, { once: true })
    try {
      await this.#openQuestions()
      this.#prompt()
      while (!signal.aborted) {
        if (!this.#terminal) await Promise.race([this.#idle(), this.#left.promise])
        if (this.#leaving || this.#state === 'over') break
        const line = await Promise.race([input.next(), this.#left.promise])
        if (line === undefined) break
        await this.#hear(line).catch((error: unknown) => this.#mend(error))
      }
      // The input ended; what was said last is still being answered.
      if (!this.#terminal && !signal.aborted) await Promise.race([this.#idle(), this.#left.promise])
      await this.#showing
    } finally {
      signal.removeEventListener('abort', leave)
      input.hide()
      if (this.#isWorking && this.#broken === undefined && (!this.#line.outlives || signal.aborted))
        await this.#stop()
    }
    if (this.#broken !== undefined) throw this.#broken
    if (this.#isWorking && this.#line.outlives && !signal.aborted)
      this.#screen.note('the agent goes on in the gateway')
    if (this.#failure !== undefined && !this.#terminal) throw this.#failure
  }

  /** Ctrl-C: first the turn, then all of it. */
  interrupt(): void {
    if (this.#state === 'working') {
      this.#state = 'stopping'
      this.#write(() => this.#screen.note('stopping; once more to leave'))
      void this.#stop().catch((error: unknown) => this.#fail(error))
    } else if (this.#state === 'idle' && !this.#warned) {
      this.#warned = true
      this.#write(() => this.#screen.note('once more to leave'))
    } else this.#leave()
  }

  /** What is told by the other end. */
  tell(event: ChatEvent): void {
    this.#showing = this.#showing.then(() => this.#tell(event)).catch((error: unknown) => this.#fail(error))
  }

  // --- internal ---

  #warned = false

  get #isWorking(): boolean {
    return this.#state === 'working' || this.#state === 'stopping'
  }

  async #stop(): Promise<void> {
    if (this.#id !== undefined) await this.#line.stop(this.#id)
  }

  async #tell(event: ChatEvent): Promise<void> {
    if (event.type === 'lost') throw event.fault
    if (event.type === 'reset') return await this.#catchUp()
    if (event.type === 'approval') {
      if (event.status !== 'pending') this.#write(() => this.#questions.settle(event.id))
      return
    }
    if (event.id !== this.#id) return
    if ('seq' in event) {
      // Told while what was there was being read.
      if (event.seq <= this.#recalled) return
      this.#seen = Math.max(this.#seen, event.seq)
    }
    this.#write(() => this.#screen.show(event))
    if (event.kind === 'turn-start' && this.#state === 'idle') this.#work()
    else if (event.kind === 'approval') await this.#ask(event.approval)
    else if (event.kind === 'turn-end') await this.#turnEnded(event.turn)
    else if (event.kind === 'ended' || event.kind === 'removed') {
      this.#state = 'over'
      this.#leave()
    }
  }

  async #turnEnded(turn: Turn): Promise<void> {
    const energy =
      this.#terminal && this.#agent !== undefined ? await this.#line.energy(this.#agent) : undefined
    this.#input?.hide()
    this.#screen.ended(turn, energy)
    this.#failure = turn.reason === 'failed' ? faultOf(turn) : undefined
    if (this.#state !== 'over') this.#state = 'idle'
    this.#settled.resolve()
    this.#prompt()
  }

  /** Resolves when no turn goes on. */
  #idle(): Promise<void> {
    return this.#isWorking ? this.#settled.promise : Promise.resolve()
  }

  #work(): void {
    this.#state = 'working'
    this.#settled = new Latch()
  }

  async #hear({ text, about }: ChatText): Promise<void> {
    this.#warned = false
    if (about !== undefined) {
      await this.#questions.answer(about, text)
      this.#prompt()
    } else if (text.trim() === '') this.#prompt()
    else if (this.#terminal && text.startsWith('/')) await this.#command(text.trim())
    else await this.#say(text)
  }

  async #say(text: string): Promise<void> {
    const before = this.#state
    if (before === 'idle') this.#work()
    try {
      await this.#line.post(this.#id ?? (await this.#begin()), text)
    } catch (error) {
      this.#state = before
      throw error
    }
  }

  /** Only now: whoever says nothing leaves nothing behind. */
  async #begin(): Promise<string> {
    const { id, agent } = await this.#line.create(this.#wanted)
    this.#id = id
    this.#agent = agent
    this.#write(() => this.#screen.began(id, agent))
    return id
  }

  /** A person can try something else; a program is told. */
  #mend(error: unknown): void {
    if (!this.#terminal || !(error instanceof Fault) || this.#session.signal.aborted) throw error
    this.#write(() => this.#session.out.fail(error))
  }

  async #command(text: string): Promise<void> {
    switch (text) {
      case '/quit':
      case '/exit':
        this.#leave()
        return
      case '/tools':
        if (this.#agent === undefined) this.#screen.note(NOBODY)
        else this.#screen.tools(await this.#line.tools(this.#agent))
        break
      case '/energy':
        if (this.#agent === undefined) this.#screen.note(NOBODY)
        else this.#screen.energy(await this.#line.energy(this.#agent))
        break
      case '/stop':
        await this.#stop()
        break
      default:
        this.#screen.lines(text === '/help' ? HELP : [`there is no ${JSON.stringify(text)}`, ...HELP])
    }
    this.#prompt()
  }

  /** Questions of before somebody came back. */
  async #openQuestions(): Promise<void> {
    if (this.#id === undefined) return
    const { messages } = await this.#line.get(this.#id)
    // Nothing waits from before the last turn.
    const turn = messages.findLastIndex(({ role }) => role === 'turn')
    for (const entry of messages.slice(turn + 1))
      if (entry.role === 'waiting') await this.#ask(entry.approval)
  }

  async #ask(approval: string): Promise<void> {
    this.#input?.hide()
    await this.#questions.ask(approval, this.#terminal && !this.#session.out.json)
    this.#prompt()
  }

  /** Shows what was missed: texts as they were kept, what is asked now, and how it ended. */
  async #catchUp(): Promise<void> {
    if (this.#id === undefined) return
    const { messages, status, agent, id } = await this.#line.get(this.#id)
    for (const entry of messages.filter(({ seq }) => seq > this.#seen)) {
      const { seq } = entry
      this.#seen = seq
      if (entry.role === 'waiting') await this.#ask(entry.approval)
      if (entry.role !== 'said' && (entry.role !== 'assistant' || entry.text === '')) continue
      const { text } = entry
      const from = entry.role === 'said' ? entry.from : undefined
      this.#write(() => this.#screen.show({ type: 'conversation', id, agent, kind: 'said', seq, text, from }))
    }
    const last = messages.findLast((entry) => entry.role === 'turn')
    if (status === 'working') {
      if (this.#state === 'idle') this.#work()
    } else if (this.#isWorking && last) await this.#turnEnded(last)
    if (status !== 'ended') return
    this.#state = 'over'
    this.#leave()
  }

  /** Writes above the prompt. */
  #write(write: () => void): void {
    this.#input?.hide()
    write()
    this.#prompt()
  }

  #prompt(): void {
    const question = this.#questions.prompt
    if (question !== undefined) this.#input?.prompt(question.text, question.about)
    else if (this.#state === 'idle' && !this.#leaving) {
      this.#screen.talk()
      this.#input?.prompt('› ')
    }
  }

  #leave(): void {
    this.#leaving = true
    this.#left.resolve(undefined)
  }

  /** Nothing can be heard any more; told by whoever runs the command. */
  #fail(error: unknown): void {
    this.#broken ??= error instanceof Error ? error : new Error(String(error))
    this.#leave()
  }
}

// --- internal ---

class Latch<T> {
  resolve: (value: T) => void = () => {}
  readonly promise = new Promise<T>((resolve) => {
    this.resolve = resolve
  })
}

const NOBODY = 'say something first: then it is known who answers'

const HELP = [
  '/tools   what the agent can use',
  '/energy  what it has left',
  '/stop    stop the turn, as Ctrl-C does',
  '/quit    leave; the conversation is kept',
  'Everything else is said to the agent, also while it works.',
]

function faultOf({ code, error = 'the turn failed', hint }: Turn): Fault {
  // As the turn has it; the list of codes is ours.
  return new Fault((code ?? 'INTERNAL') as Fault['code'], error, { hint })
}
