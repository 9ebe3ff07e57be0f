// `GET /metrics`: what can be counted, as Prometheus reads it. Tools are no labels: there may be any number of them.

import type { ServerResponse } from 'node:http'
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { VERSION } from '../base/version.ts'
import type { Hub } from '../hub.ts'
import { BUCKETS } from '../record/tally.ts'
import { type Family, metricsText, type Sample } from './metrics-text.ts'

export class Metrics {
  /** How many sessions are open; set by whoever has them. */
  sessions: () => number = () => 0
  readonly #hub: Hub
  readonly #refused = new Map<string, number>()
  #lag: IntervalHistogram | undefined

  constructor(hub: Hub) {
    this.#hub = hub
  }

  /** Counts a request that was turned away at the door. */
  refused(reason: string): void {
    this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1)
  }

  async serve(response: ServerResponse): Promise<void> {
    const text = metricsText(await this.#families())
    response.writeHead(200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'content-length': Buffer.byteLength(text),
    })
    response.end(text)
  }

  /** Stops measuring. */
  close(): void {
    this.#lag?.disable()
  }

  // --- internal ---

  async #families(): Promise<Family[]> {
    const { user, system } = process.cpuUsage()
    const waiting = await this.#hub.approvals.list('pending')
    return [
      gauge('busbar_info', 'Which Busbar this is.', [{ labels: { version: VERSION }, value: 1 }]),
      ...this.#servers(),
      ...this.#calls(),
      gauge(
        'busbar_energy_level',
        'Energy that an agent has left; unlimited ones are left out.',
        this.#energy(),
      ),
      gauge('busbar_approvals_waiting', 'Questions that wait for a person.', [{ value: waiting.length }]),
      gauge('busbar_sessions', 'Sessions of clients that are open.', [{ value: this.sessions() }]),
      counter(
        'busbar_refused_requests_total',
        'Requests that were turned away at the door.',
        [...this.#refused].map(([reason, value]) => ({ labels: { reason }, value })),
      ),
      gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', [
        { value: process.memoryUsage.rss() },
      ]),
      counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', [
        { value: (user + system) / 1e6 },
      ]),
      gauge(
        'nodejs_eventloop_lag_seconds',
        'How late the event loop was on average since it was last asked.',
        [{ value: this.#meanLag() }],
      ),
    ]
  }

  #servers(): Family[] {
    const all = this.#hub.servers.status()
    const separate = all.flatMap(({ name, instances: value }) =>
      value === undefined ? [] : [{ labels: { server: name }, value }],
    )
    return [
      gauge(
        'busbar_server_up',
        'Whether a server is connected.',
        all.map(({ name, status }) => ({ labels: { server: name }, value: Number(status === 'connected') })),
      ),
      gauge(
        'busbar_server_status',
        'The status of a server: 1 for the one it has.',
        all.flatMap(({ name, status }) =>
          STATUSES.map((word) => ({
            labels: { server: name, status: word },
            value: Number(word === status),
          })),
        ),
      ),
      gauge(
        'busbar_server_instances',
        'Instances of a server that are for one agent or session each.',
        separate,
      ),
    ]
  }

  #calls(): Family[] {
    const tallies = [...(this.#hub.context.recording()?.recorder.tally.all() ?? [])]
    // Empty for native tools, as in the record; a question mark is no name of a server.
    const named = tallies.map(([server = '?', tally]) => ({ server, tally }))
    return [
      counter(
        'busbar_calls_total',
        'Calls and other requests that have ended, by how. Server ? is any that does not exist.',
        named.flatMap(({ server, tally }) =>
          Object.entries(tally.outcomes).map(([outcome, value]) => ({ labels: { server, outcome }, value })),
        ),
      ),
      {
        name: 'busbar_call_seconds',
        help: 'How long calls took that were not denied.',
        type: 'histogram',
        samples: named.flatMap(({ server, tally }) => histogram(server, tally)),
      },
    ]
  }

  #energy(): Sample[] {
    return Object.keys(this.#hub.snapshot.config.agents).flatMap((agent) => {
      const state = this.#hub.energy?.state(agent)
      return state ? [{ labels: { agent }, value: state.level }] : []
    })
  }

  /** Measured from the first question on, so that nobody pays who does not ask. */
  #meanLag(): number {
    const lag = this.#lag
    if (lag === undefined) {
      this.#lag = monitorEventLoopDelay({ resolution: RESOLUTION })
      this.#lag.enable()
      return 0
    }
    const { mean } = lag
    lag.reset()
    // What is measured includes the pause that was meant.
    return Number.isFinite(mean) ? Math.max(0, mean / 1e9 - RESOLUTION / 1000) : 0
  }
}

// --- internal ---

const STATUSES = ['pending', 'connected', 'failed', 'needs-auth', 'disabled'] as const
/** Milliseconds. */
const RESOLUTION = 20

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, type: 'gauge', samples }
}

function counter(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, type: 'counter', samples }
}

function histogram(
  server: string,
  { buckets, count, seconds }: { buckets: readonly number[]; count: number; seconds: number },
): Sample[] {
  let below = 0
  const bounds = BUCKETS.map((bound, index): Sample => {
    below += buckets[index] ?? 0
    return { suffix: '_bucket', labels: { server, le: String(bound) }, value: below }
  })
  return [
    ...bounds,
    { suffix: '_bucket', labels: { server, le: '+Inf' }, value: count },
    { suffix: '_sum', labels: { server }, value: seconds },
    { suffix: '_count', labels: { server }, value: count },
  ]
}
