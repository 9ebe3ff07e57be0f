// The mark that some programs write before the first letter of a text in UTF-8. JSON has none.

export const MARK: Buffer = Buffer.from('\ufeff')

/** The same bytes without a mark at their beginning. */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === MARK[0] && bytes.subarray(0, MARK.length).equals(MARK)
    ? bytes.subarray(MARK.length)
    : bytes
}
