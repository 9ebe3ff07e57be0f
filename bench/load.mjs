// Load, and what it costs a process.
import { readFileSync } from 'node:fs'
import { fieldsOf } from './stage.mjs'

/** Makes `calls` calls, `clients` at a time; milliseconds of each, and seconds of all. */
export async function load(call, calls, clients) {
  const times = []
  let started = 0
  const began = performance.now()
  const one = async (_, client) => {
    while (started++ < calls) {
      const start = performance.now()
      await call(client)
      times.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: clients }, one))
  return { times, seconds: (performance.now() - began) / 1000 }
}

/** User and system time of a process in microseconds; the kernel counts in hundredths of a second. */
function processorTime(pid) {
  const fields = fieldsOf(pid)
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

/** Processor time that a process takes for some work, in microseconds. */
export async function costOf(pid, work) {
  const before = processorTime(pid)
  const result = await work()
  return { cost: processorTime(pid) - before, result }
}

/** Memory of a process that is in use, in MiB. */
export function memory(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
}

export function median(values) {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]
}
