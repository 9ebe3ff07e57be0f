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

const WHO = { assignments: ASSIGNMENTS, waiting: new Map([['intern', '/project/busbar.yaml']]) }

test('an agent and its worker are told apart by their names', () => {
  expect(actorOf('cto', WHO)).toEqual({ kind: 'agent', id: 'cto' })
  expect(actorOf('cto/reviewer', WHO)).toEqual({ kind: 'agent', id: 'cto/reviewer' })
})

test('a name that is nearly one is suggested', () => {
  expect(() => actorOf('ctoo', WHO)).toThrow(
    expect.objectContaining({ code: 'AGENT_UNKNOWN', hint: 'did you mean cto?' }),
  )
})

test('[C11] one whose file nobody has trusted yet is not told to be added', () => {
  expect(() => actorOf('intern', WHO)).toThrow(
    expect.objectContaining({
      code: 'NOT_TRUSTED',
      message: 'intern stands in /project/busbar.yaml, which is not trusted yet',
      hint: 'run: busbar trust',
    }),
  )
})
