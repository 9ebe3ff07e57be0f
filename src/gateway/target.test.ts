import { expect, test } from 'vitest'
import { targetOf } from './target.ts'

function target(url: string, ...hosts: string[]) {
  const rawHeaders = hosts.flatMap((host) => ['Host', host])
  return targetOf({ url, headers: { host: hosts[0] }, rawHeaders })
}

for (const [url, host, path, name = host] of [
  ['/mcp?x=1', 'localhost:1', '/mcp?x=1'],
  ['*', 'localhost', '*'],
  ['http://localhost:1/mcp/a%20b?x=1#y', 'localhost:1', '/mcp/a%20b?x=1'],
  ['HTTP://LOCALHOST:1/mcp', 'localhost:1', '/mcp', 'LOCALHOST:1'],
  ['http://localhost:80/mcp', 'localhost', '/mcp', 'localhost:80'],
  ['https://gate.example.com/mcp', 'gate.example.com:443', '/mcp', 'gate.example.com'],
  ['http://localhost', 'localhost', '/'],
  ['http://localhost?x=1', 'localhost', '/?x=1'],
  ['ftp://localhost/mcp', 'localhost', 'ftp://localhost/mcp'],
] as [string, string, string, string?][])
  test(`${url} at ${host} is ${path}`, () => {
    expect(target(url, host)).toEqual({ kind: 'found', url: path, host: name })
  })

test('without a Host header, it is the one in the address', () => {
  expect(targetOf({ url: 'http://a.example/mcp', headers: {}, rawHeaders: [] })).toMatchObject({
    host: 'a.example',
  })
})

for (const [url, host] of [
  ['http://evil.example/mcp', 'localhost'],
  ['http://localhost:2/mcp', 'localhost:1'],
  ['http://somebody@localhost/mcp', 'localhost'],
  ['http://localhost:443/mcp', 'localhost'],
  ['http:///mcp', 'localhost'],
] as const)
  test(`${url} is not of ${host}`, () => {
    expect(target(url, host)).toMatchObject({
      kind: 'unclear',
      reason: expect.stringContaining('another host'),
    })
  })

test('of a header that says who or where there is one', () => {
  expect(target('/mcp', 'localhost', 'localhost')).toEqual({
    kind: 'unclear',
    reason: 'there is more than one Host header',
  })
  const rawHeaders = ['host', 'localhost', 'AUTHORIZATION', 'Bearer a', 'authorization', 'Bearer a']
  expect(targetOf({ url: '/', headers: { host: 'localhost' }, rawHeaders })).toEqual({
    kind: 'unclear',
    reason: 'there is more than one Authorization header',
  })
})
