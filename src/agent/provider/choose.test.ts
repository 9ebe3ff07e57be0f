import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Fault } from '../../base/fault.ts'
import { modelsFrom } from '../providers.ts'
import { type AgentModels, type Choices, chooseModels } from './choose.ts'

function chosen(settings: AgentModels, env: Record<string, string> = {}): Choices {
  const found = chooseModels(settings, env)
  if (found instanceof Fault) throw found
  return found
}

test('[E1] a key in the environment is enough, and names both models', () => {
  expect(chosen({}, { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b' })).toMatchObject({
    normal: {
      provider: 'anthropic',
      name: 'claude-sonnet-4-6',
      key: 'a',
      baseUrl: 'https://api.anthropic.com/v1',
    },
    cheap: { provider: 'anthropic', name: 'claude-haiku-4-5', key: 'a' },
  })
  expect(chosen({}, { OPENAI_API_KEY: 'b' })).toMatchObject({
    normal: { provider: 'openai', name: 'gpt-5', key: 'b', baseUrl: 'https://api.openai.com/v1' },
    cheap: { provider: 'openai', name: 'gpt-5-mini' },
  })
})

test('[E1] a model on this machine needs an address and a name, but no key', () => {
  const env = { OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1/', BUSBAR_MODEL: 'qwen3' }
  const both = { provider: 'openai', name: 'qwen3', key: undefined, baseUrl: 'http://127.0.0.1:11434/v1' }
  expect(chosen({}, env)).toMatchObject({ normal: both, cheap: both })
  expect(chosen({}, { ...env, BUSBAR_CHEAP_MODEL: 'qwen3:1b' }).cheap.name).toBe('qwen3:1b')
  expect(chosen({ model: { baseUrl: 'http://127.0.0.1:8080/v1', name: 'x' } }).normal.provider).toBe('openai')
})

test('the configuration goes before the environment', () => {
  const env = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b', BUSBAR_MODEL: 'c' }
  const { normal, cheap } = chosen({ model: { provider: 'openai', name: 'd', key: 'e' } }, env)
  expect(normal).toMatchObject({ provider: 'openai', name: 'd', key: 'e' })
  expect(cheap).toMatchObject({ provider: 'openai', name: 'gpt-5-mini', key: 'e' })
})

test('a key of the environment is not sent to an address that the configuration names', () => {
  const env = { OPENAI_API_KEY: 'b' }
  const { normal } = chosen({ model: { baseUrl: 'https://elsewhere.example/v1', name: 'x' } }, env)
  expect(normal.key).toBeUndefined()
  const { cheap } = chosen({ cheap: { baseUrl: 'https://elsewhere.example/v1', name: 'x' } }, env)
  expect(cheap).toMatchObject({ baseUrl: 'https://elsewhere.example/v1', key: undefined })
})

test('the cheap model may be of another provider, with the key of that', () => {
  const env = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b' }
  const { normal, cheap } = chosen({ cheap: { provider: 'openai' } }, env)
  expect(normal).toMatchObject({ provider: 'anthropic', key: 'a' })
  expect(cheap).toMatchObject({ provider: 'openai', name: 'gpt-5-mini', key: 'b' })
})

test('Anthropic may be reached at an address without its version', () => {
  const env = { ANTHROPIC_API_KEY: 'a', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', BUSBAR_MODEL: 'm' }
  expect(chosen({}, env).normal.baseUrl).toBe('http://127.0.0.1:9/v1')
})

test('[E1] what is missing is named with its remedy', () => {
  const cases: [AgentModels, Record<string, string>, RegExp][] = [
    [{}, {}, /ANTHROPIC_API_KEY/],
    [{}, { ANTHROPIC_API_KEY: '' }, /ANTHROPIC_API_KEY/],
    [{ model: { provider: 'openai' } }, { ANTHROPIC_API_KEY: 'a' }, /OPENAI_API_KEY/],
    [{}, { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }, /BUSBAR_MODEL/],
    [{}, { OPENAI_BASE_URL: 'ftp://127.0.0.1/v1' }, /https:/],
    [{ model: { provider: 'scripted' } }, {}, /JSON file/],
    [{ model: { provider: 'scripted', name: '/no/such/file' } }, {}, /list of answers/],
  ]
  for (const [settings, env, remedy] of cases) {
    const found = modelsFrom(settings, env)
    expect(found).toBeInstanceOf(Fault)
    expect(found).toMatchObject({ code: 'MODEL_REFUSED', hint: expect.stringMatching(remedy) })
  }
})

test('either model may be a script while the other one is asked over the network', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'busbar-script-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const script = (text: string) => {
    const name = join(folder, text)
    writeFileSync(name, JSON.stringify([{ text }]))
    return { provider: 'scripted' as const, name }
  }
  const env = { ANTHROPIC_API_KEY: 'a' }
  const names = (settings: AgentModels) => {
    const found = modelsFrom(settings, env)
    return found instanceof Fault ? found.hint : [found.normal.name, found.cheap.name]
  }
  const one = script('one')
  expect(names({ cheap: one })).toEqual(['anthropic/claude-sonnet-4-6', 'scripted/file'])
  expect(names({ model: one, cheap: { provider: 'anthropic' } })).toEqual([
    'scripted/file',
    'anthropic/claude-haiku-4-5',
  ])
  expect(
    names({ model: one, cheap: { provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1', name: 'q' } }),
  ).toEqual(['scripted/file', 'openai/q'])
  expect(names({ cheap: { provider: 'scripted' } })).toContain('agent.cheap.name')
  expect(names({ model: one, cheap: { provider: 'openai' } })).toContain('OPENAI_API_KEY')
  const both = modelsFrom({ model: one }, {})
  expect(both).toMatchObject({ normal: { name: 'scripted/file' } })
  expect(!(both instanceof Fault) && both.normal === both.cheap).toBe(true)
  // A name alone is another script.
  const two = modelsFrom({ model: one, cheap: { name: script('two').name } }, {})
  expect(!(two instanceof Fault) && two.normal !== two.cheap).toBe(true)
})
