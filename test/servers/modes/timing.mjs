// Servers that answer late or never.
import { plain } from './plain.mjs'

/** Answers the opening request only after --delay milliseconds; all else at once. */
function slow({ delay }) {
  let opened = false
  const held = (message, connection) => {
    if (opened || !['initialize', 'server/discover'].includes(message.method)) return false
    setTimeout(() => {
      opened = true
      connection.receive(message)
      opened = false
    }, delay)
    return true
  }
  return { ...plain(), receive: held }
}

/** Accepts everything, answers nothing. */
function hanging() {
  return { ...plain(), receive: () => true }
}

/** Answers everything but tools/call. */
function hangCall() {
  return { ...plain(), receive: (message) => message.method === 'tools/call' }
}

export const modes = { slow, hanging, 'hang-call': hangCall }
