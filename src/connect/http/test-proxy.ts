// A proxy on loopback, for tests.

import http from 'node:http'
import net from 'node:net'
import { json, type Rig, result, serve } from './test-rig.ts'

/** A proxy that sends everything to one server, whatever name is asked for, and notes what it was asked. */
export async function startProxy(target: Rig, refuse?: number) {
  const asked: string[] = []
  const passwords: (string | undefined)[] = []
  const server = http.createServer()
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`)
    passwords.push(request.headers['proxy-authorization'])
    if (refuse !== undefined) {
      socket.end(`HTTP/1.1 ${refuse} No\r\n\r\n`)
      return
    }
    const far = net.connect(target.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      far.pipe(socket).pipe(far)
    })
    far.on('error', () => socket.destroy())
    socket.on('error', () => far.destroy())
  })
  const proxy = await serve((hit, response) => {
    asked.push(`${hit.method} ${hit.path} for ${hit.headers.host}`)
    passwords.push(hit.headers['proxy-authorization'])
    if (refuse !== undefined) response.writeHead(refuse).end('no')
    else json(response, result(hit.message.id, 'through the proxy'))
  }, server)
  return { asked, passwords, env: { ALL_PROXY: `http://user:pa%20ss@127.0.0.1:${proxy.port}` }, proxy }
}
