import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Fault } from '../base/fault.ts'
import { expandText, expandValue, isReference, missingVariables, variablesOf } from './expand.ts'
import type { SecretReading } from './secret-reader.ts'

const READINGS: Readonly<Record<string, SecretReading>> = {
  KEPT: { kind: 'held', value: 's3cr3t ${TOKEN}', version: 1 },
  'a.b-c': { kind: 'held', value: 'dotted', version: 1 },
  BAD: { kind: 'unusable', fault: new Fault('SECRET_DAMAGED', 'damaged') },
}

const scope = {
  secrets: { read: (name: string): SecretReading => READINGS[name] ?? { kind: 'missing' } },
  env: { TOKEN: 't0k', EMPTY: '', TRICK: '${TOKEN}', BUSBAR_INPUT_API_KEY: 'asked' },
  root: '/work/shop',
  home: '/home/ada',
}

const cases: [string, string, string | string[]][] = [
  ['a plain variable', 'Bearer ${TOKEN}', 'Bearer t0k'],
  ['the env: forms', '${env:TOKEN}/{env:TOKEN}', 't0k/t0k'],
  ['a default', '${NONE:-fallback}', 'fallback'],
  ['an empty default', 'a${NONE:-}b', 'ab'],
  ['a default that is not needed', '${TOKEN:-x}', 't0k'],
  ['a default with a variable in it', '${NONE:-${TOKEN}}!', 't0k!'],
  ['an empty variable as missing', '${EMPTY}', ['EMPTY']],
  ['an empty variable with a default', '${EMPTY:-x}', 'x'],
  ['every missing variable at once', '${A}-${B:-${C}}-${A}', ['A', 'C']],
  ['an input from the environment', '${input:api-key}', 'asked'],
  ['an input with a default', '${input:region:-eu}', 'eu'],
  ['no inherited property', '${toString} ${constructor:-x}', ['toString']],
  ['an input nobody answered', '${input:other}', ['input:other']],
  ['folders', '${workspaceFolder}:${workspaceFolderBasename}:${userHome}', '/work/shop:shop:/home/ada'],
  ['no second pass over what a variable holds', '${TRICK}', '${TOKEN}'],
  ['shell text left alone', '${TOKEN%/} ${#x} $TOKEN ${a b} ${', '${TOKEN%/} ${#x} $TOKEN ${a b} ${'],
  ['a secret, and not what it holds', 'Bearer ${secret:KEPT}', 'Bearer s3cr3t ${TOKEN}'],
  ['a secret with dots', '${secret:a.b-c}', 'dotted'],
  ['a secret that is not kept as missing', '${secret:NONE}', ['secret:NONE']],
  ['a default in place of one that is not kept', '${secret:NONE:-x}', 'x'],
  ['no default in place of one that was damaged', '${secret:BAD:-x}', ['secret:BAD']],
  ['no variable in place of a secret', '${secret:TOKEN}', ['secret:TOKEN']],
  ['names of other stores as missing', '${secret:op://a/b} ${secret:}', ['secret:op://a/b', 'secret:']],
  ['kinds nobody can fill as missing', '${command:pick} ${file:x}', ['command:pick', 'file:x']],
  ['JSON text left alone', '{"a": {"b": 1}}', '{"a": {"b": 1}}'],
]
for (const [title, text, expected] of cases)
  test(`[A3] expands ${title}`, () => {
    const result = expandText(text, scope)
    expect(result).toEqual(
      typeof expected === 'string' ? { ok: true, value: expected } : { ok: false, missing: expected },
    )
  })

test('[A3] expands every text inside a value and no key', () => {
  const value = { '${TOKEN}': ['${TOKEN}', { apiKey: '${TOKEN}' }], n: 1, on: true }
  expect(expandValue(value, scope)).toEqual({
    ok: true,
    value: { '${TOKEN}': ['t0k', { apiKey: 't0k' }], n: 1, on: true },
  })
})

test('[A4] tells what is missing without filling anything in', () => {
  const value = { env: { A: '${NONE}' }, args: ['${TOKEN}', '${OTHER}', '${secret:KEPT}'] }
  expect(missingVariables(value, scope)).toEqual(['NONE', 'OTHER'])
  expect(variablesOf(value)).toEqual(['NONE', 'TOKEN', 'OTHER', 'secret:KEPT'])
})

test('tells pure references from values', () => {
  expect(isReference('${TOKEN}')).toBe(true)
  expect(isReference('${secret:TOKEN}')).toBe(true)
  expect(isReference('Bearer ${TOKEN}')).toBe(false)
  expect(isReference('${TOKEN:-hunter2}')).toBe(false)
  expect(isReference('')).toBe(false)
})

const name = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,6}$/)
const harmless = fc.string({ maxLength: 12 }).filter((text) => !/[${}]/.test(text))

test('[A3] a text without variables comes back unchanged', () => {
  fc.assert(
    fc.property(harmless, (text) => {
      expect(expandText(text, scope)).toEqual({ ok: true, value: text })
    }),
  )
})

test('[A3] the result holds the values whatever they contain, and either all are filled or none', () => {
  const pieces = fc.array(fc.record({ text: harmless, name, value: fc.string() }), { maxLength: 6 })
  fc.assert(
    fc.property(pieces, (parts) => {
      const env: Record<string, string> = {}
      for (const part of parts) env[part.name] ??= part.value
      const text = parts.map((part) => `${part.text}\${${part.name}}`).join('')
      const missing = [...new Set(parts.map((part) => part.name).filter((key) => env[key] === ''))]
      const result = expandText(text, { ...scope, env })
      if (missing.length > 0) expect(result).toEqual({ ok: false, missing })
      else {
        const value = parts.map((part) => part.text + env[part.name]).join('')
        expect(result).toEqual({ ok: true, value })
      }
    }),
  )
})
