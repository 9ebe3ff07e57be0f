import { expect, test } from 'vitest'
import { isInBlock, type Kind, kindOf } from './address.ts'

const cases: Record<Kind, string[]> = {
  public: ['8.8.8.8', '93.184.215.14', '2606:4700::1111', '64:ff9b::808:808', '::ffff:8.8.8.8', '172.32.0.1'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1'],
  unspecified: ['0.0.0.0', '::', '0:0:0:0:0:0:0:0', '::ffff:0.0.0.0'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', 'fd12::1', 'fec0::1'],
  'link-local': ['169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'fd00:ec2::254', '100.100.100.200'],
  reserved: [
    '0.1.2.3',
    '192.0.0.8',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '2002:7f00:1::',
    '2001::1',
  ].concat(['2001:db8::1', '::127.0.0.1', 'ff02::1', '64:ff9b::1', '64:ff9b:1::1', 'name.example', '127.1']),
}
for (const [kind, addresses] of Object.entries(cases))
  for (const address of addresses)
    test(`${address} is ${kind}`, () => {
      expect(kindOf(address)).toBe(kind)
    })

test('blocks hold the addresses that begin alike', () => {
  expect(isInBlock('10.200.0.1', '10.0.0.0/8')).toBe(true)
  expect(isInBlock('11.0.0.1', '10.0.0.0/8')).toBe(false)
  expect(isInBlock('fd00::1', 'fc00::/7')).toBe(true)
  expect(isInBlock('10.0.0.1', '10.0.0.0/99')).toBe(false)
  expect(isInBlock('10.0.0.1', 'nonsense/8')).toBe(false)
})
