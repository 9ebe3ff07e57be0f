// What a server says of how it wants to be asked: the WWW-Authenticate header, of which one may hold several challenges.

export interface Challenge {
  readonly scheme: 'bearer' | 'dpop'
  /** Where the server describes itself. */
  readonly resourceMetadata?: string | undefined
  readonly scope?: string | undefined
  readonly error?: string | undefined
}

/** The challenge that tokens answer; undefined when there is none. Where both are wanted, the bound token is. */
export function challengeIn(header: string | undefined): Challenge | undefined {
  const found = challengesIn(header ?? '')
  return found.find(({ scheme }) => scheme === 'dpop') ?? found[0]
}

// --- internal ---

/** Longer ones are no challenge but an attempt to keep us busy. */
const LONGEST = 8192
/** A word, a word with its value, or a quoted value; commas are between. */
const PART = /([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/g

function challengesIn(header: string): Challenge[] {
  const found: { scheme: string; parameters: Map<string, string> }[] = []
  for (const [, word = '', quoted, plain] of header.slice(0, LONGEST).matchAll(PART)) {
    const value = quoted?.replace(/\\(.)/g, '$1') ?? plain
    if (value === undefined) found.push({ scheme: word.toLowerCase(), parameters: new Map() })
    else found.at(-1)?.parameters.set(word.toLowerCase(), value)
  }
  return found.flatMap(({ scheme, parameters }) => {
    if (scheme !== 'bearer' && scheme !== 'dpop') return []
    const of = (name: string) => parameters.get(name) || undefined
    return [{ scheme, resourceMetadata: of('resource_metadata'), scope: of('scope'), error: of('error') }]
  })
}
