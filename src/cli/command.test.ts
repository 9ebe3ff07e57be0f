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

test.each([
  [
    ['a/b', '--timeout', '-1s'],
    '--timeout wants a value, and what follows begins with a dash',
    'if that is the value: --timeout=-VALUE; else: busbar call --help',
  ],
  [
    ['a/b', '-5'],
    '-5 is read as an option',
    'a word that begins with a dash goes after --; see: busbar call --help',
  ],
  [['a/b', '--timout', '1s'], 'busbar call has no option --timout', 'did you mean --timeout?'],
])('%j is told how it is meant', async (words, message, hint) => {
  const { spec } = await import('./commands/call.ts')
  expect(() => parseWords('call', spec, words)).toThrow(
    expect.objectContaining({ code: 'USAGE', message, hint }),
  )
})
