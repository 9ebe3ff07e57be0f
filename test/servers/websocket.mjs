// The WebSocket transport: subprotocol `mcp`, one message per frame, otherwise as stdio.
import { WebSocketServer } from 'ws'

const HOST = '127.0.0.1'

/** @param {import('./core.mjs').Server} server @param {{port: number}} options */
export async function serveWebsocket(server, options) {
  const listener = new WebSocketServer({
    host: HOST,
    port: options.port,
    path: '/mcp',
    handleProtocols: (offered) => (offered.has('mcp') ? 'mcp' : false),
  })
  listener.on('connection', (socket, request) => {
    if (socket.protocol !== 'mcp') return socket.close(1002, 'subprotocol mcp is required')
    // A frame in pieces allows no other frame in between.
    let tail = Promise.resolve()
    const connection = server.connect(
      {
        send(messages) {
          tail = tail.then(() => {
            for (const one of messages) socket.send(typeof one === 'string' ? one : JSON.stringify(one))
          })
        },
        stream(pieces) {
          tail = tail.then(() => sendPieces(socket, pieces))
          return tail
        },
        cut: () => socket.terminate(),
      },
      { headers: request.headers },
    )
    socket.on('message', (data) => {
      let message
      try {
        message = JSON.parse(data.toString())
      } catch {
        return connection.malformed()
      }
      connection.receive(message)
    })
    socket.on('close', () => connection.close())
    socket.on('error', () => {})
  })
  await new Promise((resolve) => listener.on('listening', resolve))
  return `ws://${HOST}:${listener.address().port}/mcp`
}

// Fragments of one frame; the callback comes when the fragment was handed to the socket.
async function sendPieces(socket, pieces) {
  for (const piece of pieces) {
    if (socket.readyState !== socket.OPEN) return
    await new Promise((resolve) => socket.send(piece, { fin: false }, resolve))
  }
  socket.send('', { fin: true })
}
