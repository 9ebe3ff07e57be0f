// What of clients' files keeps a client from the gateway. Decided by facts alone, which doctor-facts.ts gathers.

import { Fault } from '../base/fault.ts'
import { shellWord } from '../base/shell-word.ts'
import type { Finding } from '../config/doctor.ts'
import type { GatewayFacts } from './doctor-facts.ts'

export interface ClientFact {
  readonly id: string
  readonly title: string
  readonly file: string
  readonly scope: 'user' | 'project'
  readonly way: 'http' | 'stdio'
  readonly url?: string
  /** What the token in the file opens. */
  readonly token: 'opens' | 'expired' | 'revoked' | 'unknown' | 'none' | 'unchecked'
  /** Whose token it is. */
  readonly agent?: string
  /** A program or script that the entry names and that is not there. */
  readonly missing?: string
  /** The state folder that the program it starts would use, when that is not ours. */
  readonly otherHome?: string
  /** Other users of the machine can read the file. */
  readonly open: boolean
}

export interface ClientFinding extends Finding {
  /** Decides the exit code. */
  readonly fault?: Fault
}

/** What is true of a file that was edited and not trusted since, while a gateway runs that knew it before. */
export const SERVED =
  'which was edited and is not trusted as it is now; until then the gateway serves it as it was trusted last'

/** Everything that is wrong between the clients that are connected and the gateway. */
export function examineClients(facts: GatewayFacts): ClientFinding[] {
  return [
    ...facts.clients.flatMap((client) => {
      const wrong = [
        ...checkFile(client),
        ...checkAddress(client, facts),
        ...checkToken(client, facts),
        ...checkProgram(client),
      ]
      return wrong.length > 0 ? wrong : [well(client)]
    }),
    ...facts.unreadable.map(
      (fault): ClientFinding => ({
        severity: 'warning',
        check: 'client-file',
        message: fault.message,
        fix: 'mend it by hand: its client cannot read it either',
      }),
    ),
    ...checkGateway(facts),
  ]
}

// --- internal ---

/** Connects it once more as who it is: without a name it would become another agent. */
function again({ id, scope, agent }: ClientFact, more = ''): string {
  const who = agent === undefined ? '' : ` --agent ${agent}`
  return `busbar connect ${id}${scope === 'project' ? ' --scope project' : ''}${who}${more}`
}

function well({ title, agent }: ClientFact): ClientFinding {
  return { severity: 'ok', check: 'client', message: `${title} is connected as ${agent ?? 'somebody'}` }
}

/** Nobody answers those who come by HTTP. */
function checkGateway({ clients, running }: GatewayFacts): ClientFinding[] {
  const waiting = clients.filter((it) => it.way === 'http').map((it) => it.title)
  if (running !== undefined)
    return [
      {
        severity: 'ok',
        check: 'gateway',
        message: `the gateway runs${running.url ? ` at ${running.url}` : ''}`,
      },
    ]
  if (waiting.length === 0) return []
  const message = `no gateway is running, and these clients want one: ${[...new Set(waiting)].join(', ')}`
  const fix = 'busbar up'
  const fault = new Fault('GATEWAY_ABSENT', message, { hint: fix })
  return [{ severity: 'error', check: 'gateway', message, fix, fault }]
}

function checkFile(client: ClientFact): ClientFinding[] {
  if (!client.open) return []
  const { file, title } = client
  return [
    {
      severity: 'warning',
      check: 'client-mode',
      message: `${file} holds the token of ${title} and can be read by other users`,
      fix: `chmod 600 ${shellWord(file)}`,
      repair: { kind: 'mode', file, mode: 0o600 },
    },
  ]
}

function checkAddress(client: ClientFact, { running, address }: GatewayFacts): ClientFinding[] {
  const wanted = running?.url ?? address
  if (client.url === undefined || wanted === undefined || sameHost(client.url, wanted)) return []
  const where = running === undefined ? `gateway.port and host say ${wanted}` : `the gateway is at ${wanted}`
  return [
    {
      severity: running === undefined ? 'warning' : 'error',
      check: 'client-address',
      message: `${client.title} goes to ${client.url}, and ${where}`,
      fix: again(client),
    },
  ]
}

const REASONS = {
  expired: 'has expired',
  revoked: 'was revoked',
  unknown: 'is not known here: it was made in another home, or by hand',
  none: 'is missing',
} as const

function checkToken(client: ClientFact, { agents }: GatewayFacts): ClientFinding[] {
  const { title, token, agent, file, otherHome } = client
  const finding = (check: string, message: string, fix: string): ClientFinding[] => [
    { severity: 'error', check, message, fix },
  ]
  // Whose home it is knows its tokens.
  if (token === 'unchecked' || (otherHome !== undefined && token === 'unknown')) return []
  if (token !== 'opens')
    return finding(
      'client-token',
      `the token of ${title} in ${file} ${REASONS[token]}, so it opens nothing`,
      again(client),
    )
  const acts = agents.find((it) => it.name === agent)
  if (acts === undefined)
    return finding(
      'client-agent',
      `${title} is connected as ${agent}, whose token is known; but no agent of this configuration is called so`,
      `busbar agents add ${agent} --scope ${client.scope} --server SERVER`,
    )
  if (acts.untrusted !== undefined && acts.served)
    return [
      {
        severity: 'warning',
        check: 'client-agent',
        message: `${title} is connected as ${agent}, which stands in ${acts.untrusted}, ${SERVED}`,
        fix: 'busbar trust',
      },
    ]
  if (acts.untrusted !== undefined)
    return finding(
      'client-agent',
      `${title} is connected as ${agent}, which stands in ${acts.untrusted}, which is not trusted yet`,
      'busbar trust',
    )
  if (!acts.enabled)
    return finding(
      'client-agent',
      `${title} is connected as ${agent}, which is switched off`,
      `busbar agents enable ${agent}`,
    )
  return []
}

function checkProgram(client: ClientFact): ClientFinding[] {
  const { title, missing, otherHome } = client
  return [
    ...(missing === undefined
      ? []
      : [
          {
            severity: 'error' as const,
            check: 'client-program',
            message: `${title} would start ${missing}, which is not there`,
            fix: again(client, ' --stdio'),
          },
        ]),
    ...(otherHome === undefined
      ? []
      : [
          {
            severity: 'warning' as const,
            check: 'client-home',
            message: `${title} uses another home than this one: ${otherHome}`,
            fix: `${again(client, ' --stdio')}, or set BUSBAR_HOME as it does`,
          },
        ]),
  ]
}

/** `localhost` may stand for either loopback. */
function sameHost(one: string, other: string): boolean {
  if (!URL.canParse(one) || !URL.canParse(other)) return false
  const name = (url: string) => {
    const { hostname, port, protocol } = new URL(url)
    const host = /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) ? 'loopback' : hostname
    return `${protocol}${host}:${port}`
  }
  return name(one) === name(other)
}
