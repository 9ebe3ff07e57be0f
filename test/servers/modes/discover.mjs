// Legacy servers by what they do when a modern client probes them with server/discover.
import { CODE, errorMessage, isRequest, RpcError } from '../protocol.mjs'
import { plain } from './plain.mjs'

/** @param {(message: object, connection: object) => void} react */
function onProbe(react) {
  return () => ({
    ...plain(),
    era: 'legacy',
    receive(message, connection) {
      if (message.method !== 'server/discover') return false
      react(message, connection)
      return true
    },
  })
}

/** Exits with code 1 on any request before initialize. */
function exitDiscover() {
  let opened = false
  return {
    ...plain(),
    era: 'legacy',
    receive(message) {
      if (message.method === 'initialize') opened = true
      if (!opened && isRequest(message)) {
        process.stderr.write(`fatal: unexpected ${message.method} before initialize\n`, () => process.exit(1))
        return true
      }
      return false
    },
  }
}

/** An error that names no request; `--case missing` leaves the id out altogether. */
function nullIdDiscover({ case: variant }) {
  return onProbe((_message, connection) => {
    const error = errorMessage(null, new RpcError(CODE.invalidRequest, 'Invalid Request'))
    if (variant === 'missing') delete error.id
    connection.channel.send([error], { final: true, status: 400 })
  })()
}

/** Does nothing any more from the probe on: it is silent, or with `--case error` answers everything with an error. */
function wedgeDiscover({ case: variant }) {
  let isWedged = false
  return {
    ...plain(),
    era: 'legacy',
    receive(message, connection) {
      isWedged ||= message.method === 'server/discover'
      if (isWedged && variant === 'error' && isRequest(message)) {
        const error = new RpcError(CODE.invalidRequest, 'In a failed state')
        connection.channel.send([errorMessage(message.id, error)], { about: message.id, final: true })
      }
      return isWedged
    },
  }
}

/** Hangs up: breaks the connection, or over streamable HTTP that of the request. */
function cutDiscover() {
  const mode = onProbe((_message, connection) => connection.channel.cut())()
  const isProbe = ({ message }) => message.method === 'server/discover'
  return { ...mode, http: { message: (given) => isProbe(given) && Boolean(given.response.destroy()) } }
}

export const modes = {
  'cut-discover': cutDiscover,
  'silent-discover': onProbe(() => {}),
  'exit-discover': exitDiscover,
  'wedge-discover': wedgeDiscover,
  'choke-discover': onProbe((message, connection) =>
    connection.channel.send([`{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"error":{"code":-32`], {
      about: message.id,
      final: true,
    }),
  ),
  'null-id-discover': nullIdDiscover,
  'invalid-params-discover': onProbe((message, connection) =>
    connection.channel.send([errorMessage(message.id, new RpcError(CODE.invalidParams, 'Invalid params'))], {
      about: message.id,
      final: true,
      status: 400,
    }),
  ),
}
