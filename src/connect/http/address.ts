// What kind of place an IP address is. Only public ones may be reached without somebody having named them.

import { isIP } from 'node:net'

export type Kind = 'public' | 'loopback' | 'unspecified' | 'private' | 'link-local' | 'reserved'

/** The kind of an address in any spelling; what is no address at all counts as reserved. */
export function kindOf(address: string): Kind {
  const value = numberOf(address)
  return value === undefined ? 'reserved' : kindOfNumber(value)
}

/** Whether an address lies in a block such as `10.0.0.0/8`. */
export function isInBlock(address: string, block: string): boolean {
  const value = numberOf(address)
  const range = rangeOf(block)
  return value !== undefined && range !== undefined && value >> range.shift === range.prefix
}

// --- internal ---

interface Range {
  readonly prefix: bigint
  /** Bits that do not count. */
  readonly shift: bigint
}

/** The first that fits counts. What fits none is reserved. */
const TABLE: readonly (readonly [string, Kind])[] = [
  // Clouds tell their secrets at these.
  ['100.100.100.200/32', 'link-local'],
  ['fd00:ec2::254/128', 'link-local'],
  ['0.0.0.0/32', 'unspecified'],
  ['0.0.0.0/8', 'reserved'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'private'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'reserved'],
  ['192.88.99.0/24', 'reserved'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'reserved'],
  ['198.51.100.0/24', 'reserved'],
  ['203.0.113.0/24', 'reserved'],
  ['224.0.0.0/3', 'reserved'],
  ['0.0.0.0/0', 'public'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['fc00::/7', 'private'],
  ['fec0::/10', 'private'],
  ['fe80::/10', 'link-local'],
  // Teredo and 6to4 carry an IPv4 address somewhere inside, and nobody needs them any more.
  ['2001::/32', 'reserved'],
  ['2001:db8::/32', 'reserved'],
  ['2002::/16', 'reserved'],
  ['2000::/3', 'public'],
]

/** IPv4 addresses are read as the IPv6 addresses that stand for them. */
const MAPPED = 0xffffn
/** Networks without IPv4 reach it through these (RFC 6052); what counts is the address inside. */
const TRANSLATED = 0x64_ff9b_0000_0000_0000_0000n

const RANGES = TABLE.map(([block, kind]) => ({ ...rangeOf(block), kind }))

function kindOfNumber(value: bigint): Kind {
  if (value >> 32n === TRANSLATED) return kindOfNumber((MAPPED << 32n) | (value & 0xffff_ffffn))
  for (const { prefix, shift, kind } of RANGES)
    if (shift !== undefined && value >> shift === prefix) return kind
  return 'reserved'
}

function rangeOf(block: string): Range | undefined {
  const [address = '', bits = ''] = block.split('/')
  const value = numberOf(address)
  if (value === undefined || !/^\d{1,3}$/.test(bits)) return undefined
  const width = isIP(address) === 4 ? 32 : 128
  if (Number(bits) > width) return undefined
  const shift = BigInt(width - Number(bits))
  return { prefix: value >> shift, shift }
}

function numberOf(address: string): bigint | undefined {
  const [plain = ''] = address.split('%')
  switch (isIP(plain)) {
    case 4:
      return (MAPPED << 32n) | lastFour(plain)
    case 6:
      return ofGroups(plain)
    default:
      return undefined
  }
}

function lastFour(text: string): bigint {
  return text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)
}

function ofGroups(text: string): bigint {
  // The last two groups may be written as an IPv4 address.
  const tail = /[\d.]+\.\d+$/.exec(text)?.[0]
  const hex = (value: bigint) => value.toString(16)
  const four = tail === undefined ? 0n : lastFour(tail)
  const plain =
    tail === undefined ? text : `${text.slice(0, -tail.length)}${hex(four >> 16n)}:${hex(four & 0xffffn)}`
  const [left = '', right] = plain.split('::')
  const first = left === '' ? [] : left.split(':')
  const last = right === undefined || right === '' ? [] : right.split(':')
  const zeros = Array<string>(8 - first.length - last.length).fill('0')
  return [...first, ...zeros, ...last].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}
