import { expect, test } from 'vitest'
import { ERROR, LEGACY_VERSIONS, META, MODERN_VERSION } from '../wire/era.ts'
import { nameIn, type RawParams, readParams } from '../wire/params.ts'
import { checkModern, checkParamHeaders, claimsModern } from './headers.ts'

const META_OK = { [META.version]: MODERN_VERSION, [META.capabilities]: {} }
const HEADERS = { 'mcp-protocol-version': MODERN_VERSION, 'mcp-method': 'tools/call', 'mcp-name': 'echo' }

function params(value: object): RawParams {
  return readParams(Buffer.from(JSON.stringify(value))) as RawParams
}
const call = params({ name: 'echo', arguments: {}, _meta: META_OK })

test('a request is modern by its header or by its body', () => {
  expect(claimsModern({ 'mcp-protocol-version': MODERN_VERSION }, params({}), LEGACY_VERSIONS)).toBe(true)
  expect(claimsModern({}, call, LEGACY_VERSIONS)).toBe(true)
  expect(claimsModern({ 'mcp-protocol-version': '2025-06-18' }, params({}), LEGACY_VERSIONS)).toBe(false)
  expect(claimsModern({}, params({}), LEGACY_VERSIONS)).toBe(false)
})

test('headers that say what the body says are accepted, with white space around them or not', () => {
  expect(checkModern('tools/call', 'echo', call, HEADERS)).toBeUndefined()
  expect(checkModern('tools/call', 'echo', call, { ...HEADERS, 'mcp-name': '  echo ' })).toBeUndefined()
  expect(
    checkModern('tools/call', 'echo', call, { ...HEADERS, 'mcp-name': '=?base64?ZWNobw==?=' }),
  ).toBeUndefined()
})

const refusals: [string, object, object, number][] = [
  ['no version in the body', { name: 'echo', _meta: { [META.capabilities]: {} } }, {}, ERROR.invalidParams],
  ['no capabilities', { name: 'echo', _meta: { [META.version]: MODERN_VERSION } }, {}, ERROR.invalidParams],
  ['another version in the header', call, { 'mcp-protocol-version': '2025-06-18' }, ERROR.headerMismatch],
  ['another method in the header', call, { 'mcp-method': 'tools/list' }, ERROR.headerMismatch],
  ['a method in capitals', call, { 'mcp-method': 'TOOLS/CALL' }, ERROR.headerMismatch],
  ['no method in the headers', call, { 'mcp-method': undefined }, ERROR.headerMismatch],
  ['another tool in the header', call, { 'mcp-name': 'other' }, ERROR.headerMismatch],
  ['no tool in the headers', call, { 'mcp-name': undefined }, ERROR.headerMismatch],
]
for (const [what, body, headers, code] of refusals)
  test(`${what} is refused`, () => {
    const raw = 'members' in body ? (body as RawParams) : params(body)
    expect(checkModern('tools/call', 'echo', raw, { ...HEADERS, ...headers })).toMatchObject({ code })
  })

test('a request about a task says which in its header, too', () => {
  const about = params({ taskId: 't1', _meta: META_OK })
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const check = (header: object) =>
      checkModern(method, nameIn(method, about), about, { ...HEADERS, 'mcp-method': method, ...header })
    expect(check({ 'mcp-name': 't1' })).toBeUndefined()
    for (const name of ['t2', undefined])
      expect(check({ 'mcp-name': name })).toMatchObject({ code: ERROR.headerMismatch })
  }
})

test('an unknown version is answered with those that are known', () => {
  const raw = params({ _meta: { ...META_OK, [META.version]: 'v999' } })
  expect(
    checkModern('tools/list', undefined, raw, { ...HEADERS, 'mcp-protocol-version': 'v999' }),
  ).toMatchObject({
    code: ERROR.unsupportedVersion,
    data: { supported: [MODERN_VERSION], requested: 'v999' },
  })
})

test('arguments that are repeated in headers must be the same there', () => {
  const tool = {
    tool: { name: 'echo', inputSchema: {} },
    headers: [{ header: 'Region', path: ['where', 'region'] }],
  }
  const given = params({ arguments: { where: { region: 'Zürich' } } })
  const encoded = `=?base64?${Buffer.from('Zürich').toString('base64')}?=`
  expect(checkParamHeaders(tool, given, { 'mcp-param-region': encoded })).toBeUndefined()
  expect(checkParamHeaders(tool, params({ arguments: {} }), {})).toBeUndefined()
  for (const region of [undefined, 'Bern', '=?base64?broken?='])
    expect(checkParamHeaders(tool, given, { 'mcp-param-region': region })).toMatchObject({
      code: ERROR.headerMismatch,
    })
  expect(checkParamHeaders(tool, params({ arguments: {} }), { 'mcp-param-region': 'Bern' })).toMatchObject({
    code: ERROR.headerMismatch,
  })
})
