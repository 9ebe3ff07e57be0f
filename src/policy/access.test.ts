import { expect, test } from 'vitest'
import { actorOf, mayUse, OWNER } from './access.ts'

const ASSIGNMENTS = [
  { id: 'cto', agent: 'cto', enabled: true, servers: ['github'], unknown: [], from: 'own' as const },
  {
    id: 'cto/reviewer',
    agent: 'cto',
    worker: 'reviewer',
    enabled: true,
    servers: [],
    unknown: [],
    from: 'own' as const,
  },
  { id: 'intern', agent: 'intern', enabled: false, servers: [], unknown: [], from: 'own' as const },
]

test('an agent may use its own servers and no other', () => {
  const cto = actorOf('cto', ASSIGNMENTS)
  expect(mayUse(cto, 'github', ASSIGNMENTS)).toBe(true)
  expect(mayUse(cto, 'linear', ASSIGNMENTS)).toBe(false)
})

test('a worker has only what it was given itself', () => {
  expect(mayUse(actorOf('cto/reviewer', ASSIGNMENTS), 'github', ASSIGNMENTS)).toBe(false)
})

test('the owner may use everything', () => {
  expect(mayUse(OWNER, 'anything', ASSIGNMENTS)).toBe(true)
})

test('an agent that lost its entry may use nothing', () => {
  expect(mayUse(actorOf('cto', ASSIGNMENTS), 'github', [])).toBe(false)
})

test('a name that is nearly one is suggested', () => {
  expect(() => actorOf('ctoo', ASSIGNMENTS)).toThrow(
    expect.objectContaining({ code: 'AGENT_UNKNOWN', hint: 'did you mean cto?' }),
  )
})
