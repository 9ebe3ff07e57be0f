// What a connection tells whoever keeps it.

import type { NotificationMessage } from '../wire/message.ts'
import type { Connection } from './connection.ts'

export interface ConnectionEvents {
  status(connection: Connection): void
  tools(connection: Connection): void
  lists(connection: Connection, what: 'resources' | 'prompts'): void
  /** `instance`: the key of the one that said it, where it is not one for all. */
  notification(connection: Connection, message: NotificationMessage, instance?: string): void
  /** One of its instances came up, or is not up any more. */
  instance(connection: Connection, instance: string, connected: boolean): void
}
