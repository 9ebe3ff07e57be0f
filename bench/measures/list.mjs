// What it costs the gateway to list 10,000 tools of one server.
import { costOf, load } from '../load.mjs'
import { withSystem } from '../systems.mjs'

export const list = {
  name: 'list',
  about: 'tools/list of 10,000 tools of a stdio server; processor time of the gateway’s process',
  columns: [{ key: 'cost', title: 'CPU ms/list', compare: 'ratio' }],
  *round(stage, { systems, calls: count }) {
    const lists = Math.ceil(count / 50)
    for (const system of systems)
      yield {
        group: 'stdio server',
        name: system.name,
        values: () =>
          withSystem(stage, system, { backend: 'stdio', tools: 9_999 }, async ({ pid, client, session }) => {
            const all = () => client.request(session, 'tools/list')
            await load(all, 3, 1)
            const { cost } = await costOf(pid, () => load(all, lists, 1))
            return { cost: cost / lists / 1000 }
          }),
      }
  },
}
