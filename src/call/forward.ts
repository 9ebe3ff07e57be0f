// A request of a client that is passed on as it is: only what belongs to one hop is changed, the id, the progress token
// and what an era wants in `_meta`. It takes the same way as a call: reach, then send.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import type { Asker } from '../connect/asker.ts'
import type { Connection } from '../connect/connection.ts'
import type { Held } from '../connect/instance-pool.ts'
import type { Link } from '../connect/link.ts'
import { enter, inTurn } from '../connect/reach.ts'
import type { Leave } from '../connect/turns.ts'
import { asksFirst } from '../wire/asks-first.ts'
import type { Era } from '../wire/era.ts'
import { find, type NotificationMessage, type ReplyMessage } from '../wire/message.ts'
import { param, type RawParams } from '../wire/params.ts'
import { admit, mayWrite, type Target } from './admit.ts'
import { type Allowed, askedText, askPerson } from './approve.ts'
import { argumentsProblem } from './arguments.ts'
import { type Beside, besideIn, withBeside } from './beside.ts'
import { badArguments, checkArguments } from './check.ts'
import type { CallContext } from './context.ts'
import { ownInstance } from './own-instance.ts'
import { pass, passAgain } from './pass-on.ts'
import { type Asking, Passage, type Terms, unmetered } from './passage.ts'
import { CallResult, recordReply, sound, withServer } from './result.ts'
import { findRoute, type OwnRoute, type Route, recheck } from './route.ts'
import { tariffFor } from './tariff.ts'
import { termsFor } from './terms.ts'

export interface Forwarded {
  readonly server: string
  /** The era of the client. */
  readonly era: Era
  readonly method: string
  readonly params: RawParams
  /** What it is about: see `nameIn`. */
  readonly name: string | undefined
  readonly signal: Stop
  /** What belongs to the request and comes before its answer, in order. Must not throw. */
  readonly onNotification: (message: NotificationMessage) => void
  /** Whom the server may ask back in the middle of it. */
  readonly asker?: Asker | undefined
  /** Of a legacy client, what a modern server is told of it. */
  readonly told?: Told | undefined
  /** Answers what a modern server asks in its reply, for a client that does not know that; what to ask again with. */
  readonly answers?: ((reply: ReplyMessage, params: RawParams, stop: Stop) => Promise<RawParams>) | undefined
}

/** What a client can be asked, and how much it wants to hear. */
export interface Told {
  readonly capabilities: object
  readonly logLevel: string | undefined
}

/** Passes a request on. The reply may be in the other era's form: see `answerFor` in the gateway. */
export async function forward(
  context: CallContext,
  asking: Asking,
  request: Forwarded,
): Promise<{ reply: ReplyMessage; era: Era }> {
  const { server, method, params, name, signal } = request
  const isCall = method === 'tools/call'
  const target = { server, tool: isCall ? (name ?? '') : `#${method}` }
  const recorded = isCall || !UNRECORDED.test(method)
  const text = isCall ? argumentBytes(params).toString('utf8') : askedText(params)
  const beside = isCall ? besideIn(params) : undefined
  const said = withBeside(text, beside?.own)
  const again =
    isCall && name !== undefined ? admittedAgain(context, asking, request, target, text, said) : undefined
  const admitting = again ?? admitted(context, asking, request, target, { text, beside, said }, recorded)
  const admission = admitting instanceof Promise ? await admitting : admitting
  const { terms, route } = admission
  // A stream that stays open is no call that takes long.
  const stays = method === 'subscriptions/listen'
  const passage = recorded ? Passage.begin(context, asking, target, said, terms) : undefined
  let own: Held | undefined
  let isSent = false
  try {
    passage?.proceed(await passage.written())
    const asker = request.asker?.canAnswer ? request.asker : undefined
    if (admission.connection.instances) {
      // A modern client can be asked in the course of its call alone.
      const client = request.era === 'legacy' ? asker : undefined
      own = await ownInstance(admission.connection, asking, { method, signal, client })
    }
    const { connection } = own ?? admission
    if (stays) await connection.ready(signal)
    else if (!connection.live || !connection.gate.tryEnter()) await enter(connection, { method, signal })
    try {
      const older =
        request.era === 'legacy' && asker ? (usual: Link) => connection.older(usual, signal) : undefined
      let isAnswered = false
      for (let isAgain = false; ; isAgain = true) {
        const turn = inTurn(connection, { method, name, signal }, asker, older)
        const { link, leave } = turn instanceof Promise ? await turn : turn
        let how: Parameters<Leave>[0] = 'given up'
        try {
          if (route) recheck(route, connection)
          isSent = !signal.aborted
          if (isSent) passage?.sent()
          const since = performance.now()
          const { stopping } = connection
          let reply = await pass(connection, link, request, stays, passage?.clock)
          isAnswered = true
          const mayAsk =
            link.agreement.era === 'modern' && (request.answers ?? admission.allowed) !== undefined
          if (mayAsk && asksFirst(method, reply)) {
            if (request.answers)
              reply = await passAgain(connection, link, request, { reply, since, stopping }, passage?.clock)
            // Asked by its client's own rules: the call comes again, and is still the one that a person allowed.
            else await admission.allowed?.comesAgain()
          }
          how = 'answered'
          sound(server, reply)
          if (passage) recordReply(passage, reply, () => new CallResult(server, reply).text)
          await passage?.written()
          return { reply, era: link.agreement.era }
        } catch (error) {
          // Where the server speaks another era now, and did nothing, it is asked once more, by what is agreed next.
          // Once it has asked back, it may have done something.
          if (isAgain || isAnswered || !(await link.isRefusal(error, signal))) throw error
          isSent = false
          passage?.unsent()
        } finally {
          leave?.(how)
        }
      }
    } finally {
      if (!stays) connection.gate.leave()
    }
  } catch (thrown) {
    const error = withServer(server, thrown)
    if (!isSent) await admission.allowed?.giveBack()
    passage?.failed(error)
    await passage?.written()
    throw error
  } finally {
    own?.release()
  }
}

// --- internal ---

/** What only keeps a connection going, or is asked again and again, says nothing about use. */
const UNRECORDED = /\/list$|^(?:server\/discover|subscriptions\/listen|logging\/setLevel|ping|initialize)$/

interface Admission {
  readonly connection: Connection
  readonly terms: Terms
  readonly route?: Route
  /** There when a person was asked. */
  readonly allowed?: Allowed | undefined
}

/** What a request says: its arguments, what comes beside them, and both as they are recorded. */
interface Said {
  readonly text: string
  readonly beside: Beside | undefined
  readonly said: string
}

/** A tool that was called before; undefined where something is to be found out, asked or refused first. */
function admittedAgain(
  context: CallContext,
  asking: Asking,
  { server, params, name }: Forwarded,
  target: Target,
  text: string,
  said: string,
): Admission | Promise<Admission> | undefined {
  try {
    const route = context.views.of(asking.actor).routes.get(`${server}/${name}`)
    if (route?.leave.verdict !== 'allow' || argumentsProblem(argumentBytes(params)) !== undefined)
      return undefined
    const { connection, entry } = route
    const acceptor = context.validators.ready(entry.fingerprint, entry.tool.inputSchema)
    if (!acceptor?.isValid(JSON.parse(text))) return undefined
    const setting = termsFor(context, asking, target, route.leave, route.tariff, said)
    if (!(setting instanceof Promise)) return { connection, terms: setting, route }
    return setting.then(
      (terms) => ({ connection, terms, route }),
      async (error: unknown) => {
        await Passage.refused(context, asking, target, said, error)
        throw error
      },
    )
  } catch {
    return undefined
  }
}

async function admitted(
  context: CallContext,
  asking: Asking,
  { server, method, params, name, signal, asker }: Forwarded,
  target: Target,
  { text, beside, said }: Said,
  recorded: boolean,
): Promise<Admission> {
  const { actor } = asking
  let allowed: Allowed | undefined
  try {
    if (method !== 'tools/call') {
      const { leave } = admit(context, actor, target)
      if (leave.verdict === 'ask')
        allowed = await askPerson(context, asking, target, { leave }, text, { signal, asker })
      const connection = context.manager.get(server)
      const terms = recorded
        ? await termsFor(context, asking, target, leave, tariffFor(context, target, undefined), text)
        : unmetered(mayWrite(leave))
      return { connection, terms, allowed }
    }
    if (name === undefined)
      throw new Fault(
        'TOOL_UNKNOWN',
        `${server} has no tool ${JSON.stringify(param(params, 'name') ?? null)}`,
        { server },
      )
    const address = `${server}/${name}`
    const refuse = () => {
      const problem = argumentsProblem(argumentBytes(params)) ?? besideProblem(beside)
      if (problem !== undefined) throw badArguments(address, server, problem)
    }
    let route: Route | OwnRoute | undefined = context.views.of(actor).routes.get(address)
    if (route) refuse()
    else {
      const finding = findRoute(context, actor, target, address, { signal }, refuse)
      route = finding instanceof Promise ? await finding : finding
    }
    const checking = checkArguments(context, route.entry, text)
    if (checking) await checking
    if (route.leave.verdict === 'ask') {
      allowed = await askPerson(context, asking, target, route, text, { signal, asker, beside })
      route = await findRoute(context, actor, target, address, { signal }, refuse)
    }
    // Servers' names are never empty, and what belongs to none is called elsewhere.
    if (route.kind === 'native') throw new Fault('TOOL_UNKNOWN', `there is no tool ${JSON.stringify(name)}`)
    const setting = termsFor(context, asking, target, route.leave, route.tariff, said)
    const terms = setting instanceof Promise ? await setting : setting
    return { connection: route.connection, terms, route, allowed }
  } catch (error) {
    await allowed?.giveBack()
    if (recorded) await Passage.refused(context, asking, target, said, error)
    throw error
  }
}

/** What a person is asked about must be what the server reads, here as well. */
function besideProblem(beside: Beside | undefined): string | undefined {
  const problem = beside && argumentsProblem(Buffer.from(beside.all))
  return problem?.replace('the arguments', 'what comes beside the arguments')
}

/** The arguments as they came; a call without any has none to check. */
function argumentBytes({ bytes, members }: RawParams): Buffer {
  const member = find(members, 'arguments')
  return member ? bytes.subarray(member.start, member.end) : NO_ARGUMENTS
}

const NO_ARGUMENTS = Buffer.from('{}')
