// What keeps agents from their tools though the configuration is right: the gateway, its home, its store, and what waits
// for a person. Decided by facts alone, which doctor-facts.ts gathers.

import { shellWord } from '../base/shell-word.ts'
import { faultFrom } from '../gateway/api-fault.ts'
import { type ClientFinding, SERVED } from './doctor-clients.ts'
import type { GatewayFacts } from './doctor-facts.ts'

/** More than this, and models choose badly; some clients take no more. */
const MANY_TOOLS = 40

/** Checks whose order is the order in which things are mended. */
export function examineGateway(facts: GatewayFacts): ClientFinding[] {
  return [
    ...checkStore(facts),
    ...checkClock(facts),
    ...checkHomes(facts),
    ...checkPort(facts),
    ...checkExposure(facts),
    ...checkProxy(facts),
    ...checkRunning(facts),
    ...checkServers(facts),
    ...checkAgents(facts),
    ...checkWaiting(facts),
  ]
}

// --- internal ---

function warning(check: string, message: string, fix: string): ClientFinding {
  return { severity: 'warning', check, message, fix }
}

function checkStore({ store }: GatewayFacts): ClientFinding[] {
  if (store === undefined) return []
  const { message, hint } = store
  return [
    {
      severity: 'error',
      check: 'store',
      message,
      ...(hint === undefined ? {} : { fix: hint }),
      fault: store,
    },
  ]
}

/** What was written cannot have been written later than now. */
function checkClock({ now, newest, released }: GatewayFacts): ClientFinding[] {
  const reason =
    now < released
      ? `the clock says ${day(now)}, before this Busbar was made`
      : newest !== undefined && newest > now + MINUTE
        ? `the clock says ${day(now)}, and files of this home are from ${day(newest)}`
        : undefined
  if (reason === undefined) return []
  return [warning('clock', `${reason}: tokens and approvals expire at the wrong time`, 'set the clock')]
}

const MINUTE = 60_000

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

function checkHomes({ running, otherHome }: GatewayFacts): ClientFinding[] {
  if (running !== undefined || otherHome === undefined) return []
  const { home, variable } = otherHome
  const fix = variable === undefined ? 'unset BUSBAR_HOME' : `export BUSBAR_HOME=${shellWord(variable)}`
  return [
    warning(
      'homes',
      `a gateway runs for another home, ${home}; commands here do not reach it`,
      `${fix}, or busbar up`,
    ),
  ]
}

function checkPort({ running, portTaken, address }: GatewayFacts): ClientFinding[] {
  if (running !== undefined || !portTaken || address === undefined) return []
  const { port } = new URL(address)
  return [
    warning(
      'port',
      `something else listens on ${address}, where the gateway would`,
      `see what it is: ss -ltnp 'sport = :${port}'; or set another gateway.port, and connect clients again`,
    ),
  ]
}

function checkExposure({ exposure }: GatewayFacts): ClientFinding[] {
  if (exposure === undefined) return []
  const { message, hint } = exposure
  return [{ severity: 'error', check: 'exposure', message, ...(hint === undefined ? {} : { fix: hint }) }]
}

function checkProxy({ proxy, clients, running }: GatewayFacts): ClientFinding[] {
  const used = running !== undefined || clients.some((it) => it.way === 'http')
  if (proxy === undefined || !used) return []
  return [
    warning(
      'proxy',
      `${proxy} is set, and NO_PROXY does not except this machine: clients may look for the gateway at the proxy`,
      'export NO_PROXY=localhost,127.0.0.1,::1',
    ),
  ]
}

function checkRunning({ running, version, digest, valid, changedSettings }: GatewayFacts): ClientFinding[] {
  if (running === undefined) return []
  const found: ClientFinding[] = []
  if (running.version !== version)
    found.push(
      warning(
        'gateway-version',
        `the gateway is Busbar ${running.version}, and this is ${version}`,
        'stop it (Ctrl-C), and start it anew: busbar up',
      ),
    )
  if (!valid)
    found.push(
      warning(
        'gateway-config',
        'the gateway refused the configuration as it is now, and goes on with the last good one',
        'mend the errors above: busbar config check',
      ),
    )
  else if (running.config !== digest && changedSettings.length > 0)
    found.push(
      warning(
        'gateway-config',
        `the gateway goes on with what was trusted last, because this is not trusted as it is now: ${changedSettings.join(', ')}`,
        'busbar trust',
      ),
    )
  else if (running.config !== digest)
    found.push(
      warning(
        'gateway-config',
        'the gateway follows another configuration than the one of this folder',
        'run this where it was started, with the same --config; or start it anew from here: busbar up',
      ),
    )
  return found
}

/** Servers as the gateway sees them, which may differ from how they start here. */
function checkServers({ servers }: GatewayFacts): ClientFinding[] {
  return servers.map(({ name, status, error, hint, fault }): ClientFinding => {
    const signIn = status === 'needs-auth'
    const reason = error ?? (signIn ? 'a person must sign in' : 'it does not work')
    const fix = hint?.replace(/^run: /, '') ?? (signIn ? `busbar get ${name}` : `busbar restart ${name}`)
    const message = `${name}, in the gateway: ${reason}`
    const found = { ...warning('gateway-server', message, fix), server: name }
    if (signIn) return found
    const code = fault ?? 'SERVER_UNREACHABLE'
    return {
      ...found,
      severity: 'error',
      fault: faultFrom({ code, message, hint: fix, server: name }, message),
    }
  })
}

function checkAgents({ agents, running, clients }: GatewayFacts): ClientFinding[] {
  return agents
    .filter(({ enabled }) => enabled)
    .flatMap(({ name, servers, first, token, full, tools, reason, untrusted, served }) => {
      if (untrusted !== undefined) {
        const message = served
          ? `${name} stands in ${untrusted}, ${SERVED}`
          : `${name} stands in ${untrusted}, which is not trusted yet, so nobody can act as it`
        // Of a client that would, it was said there.
        const isSaid = clients.some(({ agent, token: held }) => agent === name && held === 'opens')
        return isSaid ? [] : [warning('agent-trust', message, 'busbar trust')]
      }
      const found: ClientFinding[] = []
      const word = shellWord(name)
      if (running !== undefined && !token)
        found.push(
          warning('agent-token', `${name} has no token, so it cannot sign in`, `busbar agents token ${word}`),
        )
      if (servers === 0)
        found.push(
          warning(
            'agent-servers',
            `${name} may use no server, so it sees no tools`,
            `busbar agents grant ${word} SERVER`,
          ),
        )
      else if (tools === 0)
        found.push(
          warning(
            'agent-tools',
            reason ?? `${name} sees no tools`,
            `busbar explain ${word} ${shellWord(first ?? 'SERVER')}`,
          ),
        )
      const client = clients.find((it) => it.agent === name)
      if (full && tools !== undefined && tools > MANY_TOOLS && client !== undefined)
        found.push(
          warning(
            'tool-count',
            `${client.title} gets ${tools} tools as ${name}; models choose badly among more than ${MANY_TOOLS}`,
            `let it find them by words (surface: auto), or take some away: busbar agents revoke ${word} SERVER`,
          ),
        )
      return found
    })
}

function checkWaiting({ approvals, empty, changed }: GatewayFacts): ClientFinding[] {
  const found: ClientFinding[] = []
  if (approvals > 0)
    found.push(
      warning(
        'approvals',
        approvals === 1 ? 'a call waits for an answer' : `${approvals} calls wait for an answer`,
        'busbar approve',
      ),
    )
  for (const agent of empty)
    found.push(
      warning(
        'energy',
        `${agent} has no energy left, so its calls are refused`,
        `busbar energy refill ${shellWord(agent)}`,
      ),
    )
  if (changed.length > 0)
    found.push(
      warning(
        'pins',
        `the definition changed, so they cannot be called: ${changed.join(', ')}`,
        `busbar pins diff ${shellWord(changed[0] ?? '')}`,
      ),
    )
  return found
}
