// The head of a request of HTTP/1.1, as text. Nothing in it may end its line before its time.

/** The lines of a flat list of names and values. Throws on what no header can have. */
export function headerLines(list: readonly string[]): string {
  let text = ''
  for (let at = 0; at + 1 < list.length; at += 2) text += headerLine(list[at] ?? '', list[at + 1] ?? '')
  return text
}

export function headerLine(name: string, value: string): string {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw invalid(`${JSON.stringify(name)} is no name of one`)
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) throw invalid(`${name} has characters that none can have`)
  return `${name}: ${value}\r\n`
}

/** The first line. */
export function requestLine(method: string, target: string): string {
  if (/[^\x21-\x7e]/.test(target)) throw invalid('the path has characters that none can have')
  return `${method} ${target} HTTP/1.1\r\n`
}

// --- internal ---

function invalid(message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_INVALID_CHAR' })
}
