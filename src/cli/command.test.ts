import { expect, test } from 'vitest'
import { parseWords } from './command.ts'

const COMMANDS = ['restart', 'enable', 'disable', 'get', 'remove', 'login', 'logout', 'call']

for (const name of COMMANDS)
  test(`busbar ${name} with an empty word says so before anything is done`, async () => {
    const { spec } = await import(`./commands/${name}.ts`)
    for (const empty of ['', ' '])
      expect(() => parseWords(name, spec, [empty])).toThrow(
        expect.objectContaining({
          code: 'USAGE',
          message: expect.stringMatching(new RegExp(`^busbar ${name} needs <.*>, and it is empty$`)),
          hint: `busbar ${name} ${spec.words}`,
        }),
      )
    expect(parseWords(name, spec, ['x', '--help']).words).toEqual(['x'])
  })

test('what may be left out may be empty', async () => {
  const { spec } = await import('./commands/call.ts')
  expect(parseWords('call', spec, ['a/b', '']).words).toEqual(['a/b', ''])
})
