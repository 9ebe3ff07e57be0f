// What a connection tells whoever keeps it.

import type { NotificationMessage } from '../wire/message.ts'
import type { Connection } from './connection.ts'

export interface ConnectionEvents {
  status(connection: Connection): void
  tools(connection: Connection): void
  lists(connection: Connection, what: 'resources' | 'prompts'): void
  notification(connection: Connection, message: NotificationMessage): void
}
