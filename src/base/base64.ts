// Bytes that others have written as base64, in either alphabet.

/** The bytes; undefined for what is no base64, of which the runtime itself would leave out what it does not know. */
export function fromBase64(text: unknown): Buffer | undefined {
  if (typeof text !== 'string') return undefined
  const dense = /\s/.test(text) ? text.replace(/\s+/g, '') : text
  const found = /^[\w+/-]*(={0,2})$/.exec(dense)
  if (found === null) return undefined
  const padding = found[1]?.length ?? 0
  const isWhole = padding === 0 ? dense.length % 4 !== 1 : dense.length % 4 === 0
  return isWhole ? Buffer.from(dense, 'base64') : undefined
}
