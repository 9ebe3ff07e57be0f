// Writing at the pace of the reader.
import { setImmediate as turn } from 'node:timers/promises'

/**
 * Writes, and waits while the reader is behind. False when the reader is gone.
 * @param {import('node:stream').Writable} stream @param {string | Uint8Array} content
 */
export async function write(stream, content) {
  if (stream.destroyed) return false
  if (stream.write(content)) return true
  await new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve(undefined)
    }
    stream.on('drain', done)
    stream.on('close', done)
  })
  // With a fast reader `drain` comes before any other event; an endless answer would let nothing else happen.
  await turn()
  return !stream.destroyed
}
