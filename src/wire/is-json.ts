// Whether something that is no message is JSON at all.

import { isUtf8 } from 'node:buffer'

export function isJson(bytes: Buffer): boolean {
  if (!isUtf8(bytes)) return false
  try {
    JSON.parse(bytes.toString('utf8'))
    return true
  } catch {
    return false
  }
}
