// What is said of a value that cannot be: the value itself, unless it may be a secret, and what was expected.

import { expect, test } from 'vitest'
import { testMessages } from './check-messages.ts'
import { Sandbox } from './cli.ts'
import { faultOf, place } from './hub.ts'

testMessages([
  [
    'nothing where there must be something',
    'agents: { a: { energy: { capacity: 0 } } }\n',
    /energy\.capacity is 0; expected more than 0\n/,
  ],
  [
    'text where a number belongs',
    'servers: { a: { command: x, price: { a: abc } } }\n',
    /price\.a is "abc"; expected a number\n/,
  ],
  [
    'text where a switch belongs',
    'servers: { a: { command: x, trustAnnotations: "yes" } }\n',
    /trustAnnotations is "yes"; expected true or false\n/,
  ],
  [
    'a header with a blank in its name',
    'servers: { a: { url: "http://x.example", headers: { "X Y": abc } } }\n',
    /headers\["X Y"\] has a wrong name; expected the name of a header \(letters, digits and dashes\)\n/,
  ],
  [
    'a variable with an equals sign in its name',
    'servers: { a: { command: x, env: { "A=B": abc } } }\n',
    /env\["A=B"\] has a wrong name; expected a name without "="\n/,
  ],
  ['an empty token', 'agents: { a: { token: "" } }\n', /token is empty; expected some text\n/],
  [
    'a rate of requests, once,',
    'gateway: { limits: { rate: fast } }\n',
    /^error: [^\n]*limits\.rate is "fast"; expected a rate such as 100\/s or 600\/min\n$/,
  ],
  [
    'a rate of none',
    'gateway: { limits: { rate: 0/s } }\n',
    /limits\.rate is "0\/s"; expected a rate above 0, such as 100\/s\n/,
  ],
  ...['connect', 'call', 'total'].flatMap((name) =>
    ['0', '0s', '0.00m', '-1'].map((value): [string, string, RegExp] => [
      `no time at all for ${name} (${value})`,
      `servers: { a: { command: x, timeouts: { ${name}: ${value} } } }\n`,
      /[sm]$/.test(value)
        ? new RegExp(`timeouts\\.${name} is "${value}"; expected a duration above 0, such as 500ms`)
        : new RegExp(`timeouts\\.${name} is ${value}; expected more than 0\\n`),
    ]),
  ),
  [
    'no time at all by another name',
    'servers: { a: { command: x, timeout: 0 } }\n',
    /timeout is 0; expected more than 0/,
  ],
  [
    'an address among hosts',
    'gateway: { allowedHosts: [gate.example, "[::1]:80", "http://bad/"] }\n',
    /^error: [^\n]*allowedHosts\[2\] is "http:\/\/bad\/"; expected a name as a Host header has it[^\n]*\n$/,
  ],
  [
    'a pattern among hosts',
    'gateway: { allowedHosts: ["*"] }\n',
    /allowedHosts\[0\] is "\*"; expected a name/,
  ],
])

test('[A8] the same is said to a program; health may be 0, which is never', async () => {
  const { open } = place()
  const timeouts = (given: object) =>
    open({ servers: { a: { command: 'x', timeouts: given } } }, { start: false })
  for (const name of ['connect', 'call', 'total'])
    expect((await faultOf(timeouts({ [name]: 0 }))).message).toContain(`timeouts.${name} is 0; expected`)
  await timeouts({ health: 0, call: '0.5s', connect: 1, total: '1h' })
})

test('[A8][C11] what may be a secret is not repeated, whatever is wrong with it', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    'busbar.yaml',
    `servers:
  a: { command: x, env: hush-1, headers: { k: [hush-2] } }
  b: { command: x, args: run --password hush-3 }
agents:
  c: { token: [hush-4] }
agent: { model: { key: { k: hush-5 } } }
`,
  )
  const { code, stdout, stderr } = await sandbox.run(['config', 'check', '--json'])
  expect(code).toBe(1)
  expect(stdout).toContain('servers.b.args')
  expect(stdout + stderr).not.toContain('hush')
})
