// Load, and what it costs a process.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
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

/** Time that the threads of a process were running, in microseconds. */
function processorTime(pid) {
  if (!existsSync(`/proc/${pid}/schedstat`)) return ticks(pid)
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  )
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1000
}

/** The same in hundredths of a second, from kernels that do not count more finely. */
function ticks(pid) {
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
