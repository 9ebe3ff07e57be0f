import { expect, test } from 'vitest'
import { type HubConfig, withoutInstances } from './instances.ts'

const separated = (config: HubConfig) => withoutInstances(config, 'apply')
const instance = { connect: async () => undefined, close: async () => undefined }
const sdk = { type: 'sdk', instance } as const

test('server objects are kept aside wherever servers may stand, under the name they are read by', () => {
  for (const [config, rest, names] of [
    [{ servers: { a: sdk, b: { command: 'b' } } }, { a: { type: 'sdk' }, b: { command: 'b' } }, ['a']],
    [{ servers: [{ name: 'a', ...sdk }] }, [{ name: 'a', type: 'sdk' }], ['a']],
    [{ servers: [{ id: 'a', name: 'x', ...sdk }] }, [{ id: 'a', name: 'x', type: 'sdk' }], ['a']],
  ] as const) {
    const read = separated(config)
    expect([read.config, Object.keys(read.instances), read.problems]).toEqual([{ servers: rest }, names, []])
    const synonym = separated({ mcpServers: config.servers })
    expect(synonym).toEqual({ ...read, config: { mcpServers: rest } })
  }
})

test('what is no map of servers is left as it is, for whoever checks it', () => {
  for (const servers of [5, 'text', true, null, [], {}, [5, null]])
    expect(separated({ servers: servers as never, lead: 'x' })).toEqual({
      config: { servers, lead: 'x' },
      instances: {},
      problems: [],
    })
  expect(separated({}).config).toEqual({})
})

test('what is no server object is named with its place', () => {
  for (const [wrong, text] of [
    [null, 'null'],
    [undefined, 'missing'],
    [5, '5'],
    [{}, '{}'],
    [{ connect: () => undefined }, 'a map'],
  ])
    expect(separated({ servers: { x: { type: 'sdk', instance: wrong as never } } })).toMatchObject({
      config: { servers: { x: { type: 'sdk' } } },
      instances: {},
      problems: [
        {
          file: 'apply',
          path: 'servers.x.instance',
          message: expect.stringContaining(`is ${text}; `),
          server: 'x',
        },
      ],
    })
})
