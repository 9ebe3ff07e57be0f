import { expect, test } from 'vitest'
import { endpointOf } from './endpoint.ts'

const FINE = [
  'https://login.example.com/authorize',
  'https://login.example.com:8443/a/b?tenant=1&x=%20y',
  'http://127.0.0.1:9000/token',
  'http://localhost:9000/token',
  'http://[::1]:9000/token',
  'https://[2001:db8::1]/token',
  'https://under_score.example.com/',
]

for (const address of FINE)
  test(`${address} is an endpoint [C6]`, () => {
    expect(endpointOf(address, 'token endpoint').href).toBe(new URL(address).href)
  })

const BAD: [string, unknown][] = [
  ['there is none', undefined],
  ['there is none', ''],
  ['there is none', 7],
  ['there is none', { toString: () => 'https://a.example' }],
  ['it is not https', 'http://login.example.com/'],
  ['it is not https', 'http://127.0.0.1.example.com/'],
  ['it is not https', 'http://10.0.0.1/'],
  ['it is not https', 'javascript:alert`1`'.replaceAll('`', '')],
  ['it is not https', 'data:text/html,x'],
  ['it is not https', 'file:///etc/passwd'],
  ['it is not https', 'vbscript:x'],
  ['it is not https', 'smb://host/share'],
  ['it is not https', 'ms-calculator:'],
  ['it has a user in it', 'https://user@login.example.com/'],
  ['it has a user in it', 'https://login.example.com:secret@127.0.0.1/'],
  ['it has a fragment', 'https://login.example.com/#x'],
  ['its host is no name', 'https://-oProxyCommand=x/'],
  ['its host is no name', 'https://-login.example.com/'],
  ['its host is no name', 'https://login.example-/'],
  ['it is no address', '-oProxyCommand=x'],
  ['it is no address', '/authorize'],
  ['it is no address', 'https://'],
  ['it is longer than', `https://login.example.com/${'a'.repeat(5_000)}`],
  ...[
    '$(id)',
    '`id`',
    '"x"',
    "'x'",
    'a b',
    'a\nb',
    'a\tb',
    '\\',
    '<x>',
    '|x',
    ';x',
    '\u0007',
    'ü',
    '\u202e',
  ].map((text): [string, string] => ['it has characters', `https://login.example.com/${text}`]),
]

for (const [reason, address] of BAD)
  test(`${JSON.stringify(address)?.slice(0, 60)} is no endpoint: ${reason} [C6]`, () => {
    const refuse = () => endpointOf(address, 'token endpoint')
    expect(refuse).toThrow(`the token endpoint is refused: ${reason}`)
    expect(refuse).toThrow(expect.objectContaining({ code: 'SIGN_IN_FAILED' }))
  })

test('what is refused is shown short and without its password [C6]', () => {
  const shown = (address: string) => {
    try {
      endpointOf(address, 'token endpoint')
    } catch (error) {
      return error instanceof Error ? error.message : ''
    }
    return ''
  }
  expect(shown('https://ada:correct-horse@login.example.com/')).not.toContain('correct-horse')
  expect(shown(`https://login.example.com/${'a'.repeat(5_000)}`).length).toBeLessThan(300)
})
