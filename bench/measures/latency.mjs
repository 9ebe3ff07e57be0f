// How much later the answer to a small call comes, for one client alone.
import { load, median } from '../load.mjs'
import { withSystem } from '../systems.mjs'

export const latency = {
  name: 'latency',
  about: 'small calls (100 B), one client; half of the answers came within this time',
  columns: [{ key: 'middle', title: 'p50 ms', compare: 'difference' }],
  *round(stage, { systems, calls: count }) {
    for (const backend of ['stdio', 'http'])
      for (const system of systems.filter(({ backends }) => backends.includes(backend)))
        yield {
          group: `${backend} server`,
          name: system.name,
          values: () =>
            withSystem(stage, system, { backend }, async ({ call }) => {
              await load(() => call(100), Math.min(count, 500), 1)
              const { times } = await load(() => call(100), Math.ceil(count / 2), 1)
              return { middle: median(times) }
            }),
        }
  },
}
