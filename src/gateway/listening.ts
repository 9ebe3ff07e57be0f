// Making a server listen, or saying why it cannot.

import type { Server } from 'node:http'
import { Fault } from '../base/fault.ts'

export function listening(server: Server, listen: () => void, where: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === 'EADDRINUSE'
          ? 'something else listens there'
          : error.code === 'EACCES'
            ? 'that needs other rights'
            : error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND'
              ? 'this machine has no such address'
              : error.message
      reject(
        new Fault('GATEWAY_BUSY', `the gateway cannot listen on ${where}: ${reason}`, {
          hint:
            error.code === 'EADDRINUSE' || error.code === 'EACCES'
              ? 'choose another: busbar up --port 0'
              : 'leave --host out, or name an address of this machine',
          cause: error,
        }),
      )
    })
    server.once('listening', resolve)
    listen()
  })
}
