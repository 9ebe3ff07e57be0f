// What a result of 4 MiB costs the gateway.
import { costOf, load } from '../load.mjs'
import { withSystem } from '../systems.mjs'

const SIZE = 4 * 1024 * 1024

export const large = {
  name: 'large',
  about: 'results of 4 MiB, one client; processor time of the gateway’s process',
  columns: [{ key: 'cost', title: 'CPU ms/call', compare: 'ratio' }],
  *round(stage, { systems, calls: count }) {
    const large = Math.ceil(count / 100)
    for (const backend of ['stdio', 'http'])
      for (const system of systems.filter(({ backends }) => backends.includes(backend)))
        yield {
          group: `${backend} server`,
          name: system.name,
          values: () =>
            withSystem(stage, system, { backend }, async ({ pid, call }) => {
              await load(() => call(SIZE), 3, 1)
              const { cost } = await costOf(pid, () => load(() => call(SIZE), large, 1))
              return { cost: cost / large / 1000 }
            }),
        }
  },
}
