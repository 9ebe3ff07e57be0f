import { expect, test } from 'vitest'
import { actorOf } from './access.ts'

const ASSIGNMENTS = ['cto', 'cto/reviewer'].map((id) => ({
  id,
  agent: 'cto',
  enabled: true,
  servers: ['github'],
  unknown: [],
  from: 'own' as const,
}))

test('an agent and its worker are told apart by their names', () => {
  expect(actorOf('cto', ASSIGNMENTS)).toEqual({ kind: 'agent', id: 'cto' })
  expect(actorOf('cto/reviewer', ASSIGNMENTS)).toEqual({ kind: 'agent', id: 'cto/reviewer' })
})

test('a name that is nearly one is suggested', () => {
  expect(() => actorOf('ctoo', ASSIGNMENTS)).toThrow(
    expect.objectContaining({ code: 'AGENT_UNKNOWN', hint: 'did you mean cto?' }),
  )
})
