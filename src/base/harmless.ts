// Tells quickly that a text has nothing in it which redact.ts would mask, so that most texts are never looked at closely.

/** Whether nothing in a text, nor in the names in it, can be a secret by its form. It may be when this says no. */
export function isHarmless(text: string): boolean {
  let last = 0
  let run = 0
  let digits = 0
  let behindColon = false
  let inAddress = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    // The last three characters, five bits each, in which case does not count.
    last = ((last << 5) | (code & 31)) & 0x7fff
    if (STARTS[last] === 1 && isSuspicious(text, at - 2)) return false
    const kind = code < 128 ? (KINDS[code] ?? OTHER) : OTHER
    if (kind === LETTER) run += 1
    else if (kind === DIGIT) {
      run += 1
      digits += 1
    } else {
      run = 0
      digits = 0
    }
    if (run >= LONG_WORD && digits > 0) return false
    if (kind < SPECIAL) continue
    // Behind an escape any letter may hide, that of a name as well; and where escapes are escaped, it may be a known secret.
    if (code === BACKSLASH && isDeep(text.charCodeAt(at + 1))) return false
    // user:password@host
    if (code === AT && behindColon) return false
    // https://host/#token=…
    if (code === HASH && inAddress) return false
    if (code === COLON) {
      behindColon = true
      inAddress ||= text.startsWith('//', at + 1)
    } else if (code !== BACKSLASH && code !== HASH) behindColon = false
  }
  return true
}

// --- internal ---

function isDeep(escaped: number): boolean {
  return escaped === 0x75 || escaped === BACKSLASH
}

/** Names of secrets, how keys begin, and parameters of addresses; see the patterns in redact.ts. */
const SUSPICIOUS =
  /key|auth|cookie|bearer|cred|dsn|pass|secret|signature|token|pwd|(?:sig|code)=|gh[porsu]_|[prs]k[-_]|xox|a[ks]ia|aiza|eyj|ntn_|lin_api|npm_|hf_|dop_v1|busbar_/iy

/** On its own because here case counts: a `path` is in every other call, and `myPatOld` is the name of a secret. */
const SUSPICIOUS_PAT = /[Pp][Aa][Tt][Ss]?(?![a-z])/y

function isSuspicious(text: string, at: number): boolean {
  SUSPICIOUS.lastIndex = at
  SUSPICIOUS_PAT.lastIndex = at
  return SUSPICIOUS.test(text) || SUSPICIOUS_PAT.test(text)
}

/** Shorter words are never taken for random ones, nor those without a digit. */
const LONG_WORD = 24

const OTHER = 0
const LETTER = 1
const DIGIT = 2
const SPECIAL = 3

const HASH = 0x23
const COLON = 0x3a
const AT = 0x40
const BACKSLASH = 0x5c

const KINDS = new Uint8Array(128).map((_, code) => {
  const character = String.fromCharCode(code)
  if (/\d/.test(character)) return DIGIT
  if (/[\w+/=-]/.test(character)) return LETTER
  return /[\s@#:\\]/.test(character) ? SPECIAL : OTHER
})

/** For each three characters whether something suspicious may begin with them. */
const STARTS = new Uint8Array(0x8000)
for (const start of [
  ...[
    'key',
    'aut',
    'coo',
    'bea',
    'cre',
    'dsn',
    'pas',
    'sec',
    'sig',
    'tok',
    'pwd',
    'pat',
    'cod',
    'ghp',
    'gho',
  ],
  ...[
    'ghr',
    'ghs',
    'ghu',
    'pk-',
    'pk_',
    'rk-',
    'rk_',
    'sk-',
    'sk_',
    'xox',
    'aki',
    'asi',
    'aiz',
    'eyj',
    'ntn',
  ],
  ...['lin', 'npm', 'hf_', 'dop', 'bus'],
])
  STARTS[Array.from(start).reduce((sum, letter) => (sum << 5) | (letter.charCodeAt(0) & 31), 0)] = 1
