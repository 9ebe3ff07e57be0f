// The `gateway` part of a configuration file: where it listens, and how much of it one client may take.

import * as z from 'zod/mini'
import { about, duration, hostName, requestRate, size, word } from './schema-values.ts'

const count = z.int().check(z.minimum(1))

const limits = z.strictObject({
  body: about('Largest body of a request.', z._default(size, 16 * 1024 * 1024)),
  headers: about('Most bytes of headers of a request; needs a restart.', z._default(size, 16 * 1024)),
  headerCount: about('Most headers of a request.', z._default(count, 100)),
  receive: about(
    'How long a client may take to send a whole request; needs a restart.',
    z._default(duration, 60_000),
  ),
  concurrent: about('Requests of one agent at a time.', z._default(count, 1_000)),
  rate: about('How often one agent may ask, e.g. `100/s`; default: as often as it likes.', requestRate),
  sessions: about('Sessions of one agent.', z._default(count, 256)),
  sessionIdle: about('How long a session that nobody uses is kept.', z._default(duration, 30 * 60_000)),
  parked: about(
    'How long a call waits for a modern client that was asked something and has to come back with the answer.',
    z._default(duration, 10 * 60_000),
  ),
  streams: about('Streams of one agent that stay open.', z._default(count, 64)),
  failedSignIns: about(
    'Wrong tokens from one address in a minute, before further wrong ones are turned away.',
    z._default(count, 20),
  ),
})

export const gatewaySchema = z.strictObject({
  host: about(
    'Address to listen on. Another than loopback needs `allowedHosts`, and a token for every agent.',
    z._default(word, '127.0.0.1'),
  ),
  port: about('Port; 0 takes a free one.', z._default(z.int().check(z.minimum(0), z.maximum(65535)), 4747)),
  allowedHosts: about(
    'Further Host headers that are accepted: names, with or without a port.',
    z._default(z.array(hostName), []),
  ),
  limits: about('How much of it one client may take.', z.prefault(limits, {})),
})

export type GatewaySettings = z.output<typeof gatewaySchema>
export type GatewayLimits = GatewaySettings['limits']
