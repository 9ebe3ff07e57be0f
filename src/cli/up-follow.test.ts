import { expect, test } from 'vitest'
import { gatewaySchema } from '../config/schema-gateway.ts'
import { inForce, needRestart } from './up-follow.ts'

const began = gatewaySchema.parse({})

test('what can be taken over is named, and what only a start reads', () => {
  const now = gatewaySchema.parse({
    host: '127.0.0.2',
    port: 1,
    allowedHosts: ['gate.example'],
    limits: { rate: '10/s', streams: 2, headers: '8KB', receive: '1s' },
  })
  expect(inForce(began, began)).toEqual([])
  expect(inForce(began, now).sort()).toEqual([
    'gateway.allowedHosts',
    'gateway.limits.rate',
    'gateway.limits.streams',
  ])
  expect(inForce(now, began)).toContain('gateway.limits.rate')
  expect(needRestart(began, now)).toEqual([
    'gateway.host',
    'gateway.port',
    'gateway.limits.headers',
    'gateway.limits.receive',
  ])
  expect(needRestart(began, now, { host: '127.0.0.1', port: 0 })).toEqual([
    'gateway.limits.headers',
    'gateway.limits.receive',
  ])
})
