// A certificate made on the spot, so that tests of TLS need neither a key in the repository nor a program to make one.

import { generateKeyPairSync, sign } from 'node:crypto'

export interface TestCertificate {
  readonly key: string
  readonly cert: string
}

/** Signed by itself, for these names, valid from `from` to `to` (UTC time of X.509: YYMMDDHHMMSSZ). */
export function testCertificate(
  names: readonly string[],
  from = '200101000000Z',
  to = '491231235959Z',
): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = node(0x30, OID_ECDSA_SHA256)
  const name = node(0x30, node(0x31, node(0x30, OID_COMMON_NAME, node(0x0c, Buffer.from('test')))))
  const alternatives = names.map((text) =>
    /^[\d.]+$/.test(text)
      ? node(0x87, Buffer.from(text.split('.').map(Number)))
      : node(0x82, Buffer.from(text)),
  )
  const extension = node(0x30, OID_ALTERNATIVE_NAME, node(0x04, node(0x30, ...alternatives)))
  const content = node(
    0x30,
    node(0xa0, node(0x02, Buffer.from([2]))),
    node(0x02, Buffer.from([1])),
    algorithm,
    name,
    node(0x30, node(0x17, Buffer.from(from)), node(0x17, Buffer.from(to))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    node(0xa3, node(0x30, extension)),
  )
  const signature = node(0x03, Buffer.from([0]), sign('sha256', content, privateKey))
  const der = node(0x30, content, algorithm, signature).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${der.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  }
}

// --- internal ---

const OID_ECDSA_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex')
const OID_COMMON_NAME = Buffer.from('0603550403', 'hex')
const OID_ALTERNATIVE_NAME = Buffer.from('0603551d11', 'hex')

/** One value of ASN.1 in DER. */
function node(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
