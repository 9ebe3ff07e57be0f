// Small parts that several modes are built of.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Waits, but no longer than until the signal. @param {number} milliseconds @param {AbortSignal} [signal] */
export async function wait(milliseconds, signal) {
  await sleep(milliseconds, undefined, { signal }).catch((error) => {
    if (error.name !== 'AbortError') throw error
  })
}

/** Who this process is; the group is told by /proc, so only on Linux. */
export function identity() {
  return { pid: process.pid, ppid: process.ppid, ...group(), argv: process.argv }
}

const SENTENCES = [
  'She said "hello" and wrote C:\\path\\to\\file.\n',
  'Größe, naïve, 東京, Привет and 🚌 travel together;\ttabs too. ',
  '{"looks":"like JSON","n":[1,2,3]} but is text.\r\n',
  'A plain sentence with nothing special in it. ',
].join('')

/** So many UTF-16 units of text as documents have it. @param {number} size */
export function passage(size) {
  const whole = SENTENCES.repeat(Math.ceil(size / SENTENCES.length)).slice(0, size)
  // A cut surrogate pair would not survive UTF-8.
  return whole.isWellFormed() ? whole : `${whole.slice(0, -1)}.`
}

/** @param {string} name @param {string} description @param {Function} run @param {object} [inputSchema] */
export function tool(name, description, run, inputSchema = { type: 'object', properties: {} }) {
  return { name, description, inputSchema, run }
}

// --- internal ---

function group() {
  try {
    // Fields after the command name, which stands in parentheses and may hold spaces: state, ppid, pgrp, session.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ')
    return { pgid: Number(fields[2]), sid: Number(fields[3]) }
  } catch {
    return {}
  }
}
