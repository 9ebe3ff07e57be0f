// Keeps secrets off the screen. What may be a secret is shown as a mask; the file and line say where the real one is.

import { FormIndex, formsOf, SHORTEST } from './secret-forms.ts'

export const MASK = '••••••'

const SECRET_NAME =
  /(?:^|[^a-z])(?:api[-_]?key|apikey|auth|authorization|cookie|bearer|credentials?|dsn|pass|passwd|passphrase|password|pat|private[-_]?key|secret|signature|token)s?(?:$|[^a-z])|(?:key|secret|token|password|[-_]pwd)$/i
/** Keys that show by how they begin, and consist of letters that keys consist of. */
const KEYS = [
  /\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{16,}/,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/,
  /\bglpat-[A-Za-z0-9_-]{16,}/,
  /\b(?:sk|rk|pk)[-_](?:ant-|proj-|live_|test_)?[A-Za-z0-9_-]{16,}/,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/,
  /\bAIza[A-Za-z0-9_-]{30,}/,
  // The first part ends before another one, or a long row of `eyJ-` would be read to its end from each of them.
  /\beyJ(?:\w|-(?!eyJ)){8,}\.[A-Za-z0-9_-]{8,}/,
  /\bbusbar_[A-Za-z0-9_-]{20,}/,
  /\b(?:ntn|secret|lin_api|npm|hf|dop_v1|shpat)_[A-Za-z0-9_-]{16,}/,
]
const SECRET_VALUE = [
  ...KEYS,
  // To its end; to the end of the text when that is missing.
  /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----|[\s\S]*)/,
]
const SURE_VALUE = [
  ...KEYS,
  // As far as it looks like one.
  /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?:\s|\\[nr])*(?:Proc-Type: 4,ENCRYPTED|DEK-Info: [A-Z0-9-]+,[0-9A-F]+|[A-Za-z0-9+/=]{16,}))*(?:(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{1,15})?(?:\s|\\[nr])*-----END [A-Z ]*PRIVATE KEY-----)?/,
]
const EVERY_SECRET_VALUE = everywhere(SECRET_VALUE)
const EVERY_SURE_VALUE = everywhere(SURE_VALUE)

/** Whether a name says that its value is a secret: GITHUB_TOKEN, apiKey, Authorization. */
export function isSecretName(name: string): boolean {
  // Words are told apart by case as well as by separators.
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2')
  return SECRET_NAME.test(words) && !/[-_](?:path|file|dir|folder|url|endpoint|name|type)$/i.test(words)
}

/** The same where there is no doubt: a `key` may be anybody's, a password is one. */
export function isSureName(name: string): boolean {
  return (
    isSecretName(name) &&
    /(?:^|[^a-z])(?:(?:api|access|auth|private|secret|signing)[-_ ]?key|pass(?:word|wd|phrase)|secret|token|authorization|cookie|credentials)$/i.test(
      name.replace(/([a-z0-9])([A-Z])/g, '$1_$2'),
    )
  )
}

/** Whether a text looks like a key, whatever it is called. */
export function isSecretValue(text: string): boolean {
  return SECRET_VALUE.some((pattern) => pattern.test(text)) || hasPassword(text) || isRandom(text)
}

/** A text with everything masked that is known to be a secret by its form, its parameter's name or its place. */
export function maskText(text: string): string {
  let masked = maskPasswords(text).replace(BARE_PASSWORD, `$1${MASK}@`)
  masked = masked.replace(
    /([?&;]([\w.-]+)=)([^&#\s]+)/g,
    (whole, start: string, name: string, value: string) =>
      isSecretName(name) || /^(?:sig|code|key)$/i.test(name) || isRandom(value) ? `${start}${MASK}` : whole,
  )
  // A long random part of an address is a key, too.
  if (/^[a-z]{2,8}:\/\//i.test(text))
    masked = maskFragment(masked).replace(/\/([^/?#]+)/g, (whole, part: string) =>
      isRandom(part) ? `/${MASK}` : whole,
    )
  for (const pattern of EVERY_SECRET_VALUE) masked = masked.replace(pattern, MASK)
  return maskEndedKeys(masked)
}

/** An address, or a text with addresses in it, without the passwords of users. */
export function maskPasswords(text: string): string {
  return text.replace(PASSWORD, `$1${MASK}@`)
}

/**
 * A text in which keys of a known form are masked and nothing else: whoever decides by it must see all that is no key, and
 * who wrote it may have made anything look like the place of one.
 */
export function maskKeys(text: string): string {
  return EVERY_SURE_VALUE.reduce((masked, pattern) => masked.replace(pattern, MASK), text)
}

/**
 * Takes given secrets out of texts, in whatever form they come back: as they are, in an address, in JSON (also in JSON
 * inside JSON), in base64 alone or amid other bytes. Short ones are left alone, because they would be found in ordinary
 * words.
 */
export function scrubber(secrets: Iterable<string>): (text: string) => string {
  const own = new Set([...secrets].filter((it) => it.length >= SHORTEST).flatMap(formsOf))
  let known = -1
  let index: FormIndex | undefined
  return (text) => {
    if (known !== lessons) {
      const forms = [...own, ...[...learned.values()].flatMap((it) => [...it.values()])].flat()
      index = forms.length === 0 ? undefined : new FormIndex(new Set(forms))
      known = lessons
    }
    return index ? index.replace(text, () => MASK) : text
  }
}

/**
 * Adds a secret that came while the program ran, such as a token: every scrubber takes it out from now on. `owner` is
 * what it belongs to: only newer ones of the same owner make an old one be forgotten, never those of others.
 */
export function learnSecret(secret: string | undefined, owner: string): void {
  if (secret === undefined || secret.length < SHORTEST) return
  const known = learned.get(owner) ?? new Map<string, readonly string[]>()
  learned.set(owner, known)
  const forms = known.get(secret)
  // Whatever is still in use is the newest again.
  known.delete(secret)
  known.set(secret, forms ?? formsOf(secret))
  if (forms === undefined) lessons += 1
  // The oldest are over long since.
  for (const oldest of known.keys()) if (known.size > MOST_LEARNED) known.delete(oldest)
}

/** A text without the secrets that were learned. Before anything is cut off: the beginning of a secret is one, too. */
export function scrubLearned(text: string): string {
  return learnedOnly(text)
}

/**
 * Arguments with secrets masked: what follows a flag such as `--api-key`, and every `NAME=value`, `Name: value` and
 * member of JSON inside an argument whose name says so. Only the value is masked: of a command that a shell or an
 * interpreter would run, the rest stays readable, or nobody could judge it.
 */
export function maskArguments(args: readonly string[], isReference: (text: string) => boolean): string[] {
  return args.map((argument, index) => {
    const flag = args[index - 1] ?? ''
    const follows = /^--?[\w-]+$/.test(flag) && !argument.startsWith('-') && isOneWord(argument)
    if (follows && isSecretName(flag) && !isReference(argument)) return MASK
    if (follows && /^(?:-u|--user)$/.test(flag)) return argument.replace(/:.+$/, `:${MASK}`)
    const members = maskText(argument).replace(MEMBER, (whole, open: string, key: string) =>
      isSecretName(key) ? `${open}${MASK}"` : whole,
    )
    return maskPairs(members)
  })
}

// --- internal ---

function everywhere(patterns: readonly RegExp[]): RegExp[] {
  return patterns.map(({ source }) => new RegExp(source, 'g'))
}

const MOST_LEARNED = 30
const learned = new Map<string, Map<string, readonly string[]>>()
let lessons = 0
const learnedOnly = scrubber([])

/** Private keys whose beginning is missing. Not as a pattern: each line of a long text would be tried as the first of one. */
function maskEndedKeys(text: string): string {
  let masked = ''
  let done = 0
  for (let end = KEY_END.exec(text); end !== null; end = KEY_END.exec(text)) {
    let start = end.index
    for (let isLast = true; ; isLast = false) {
      const stop = before(text, start, done, isGap)
      const line = before(text, stop, done, isOfKey)
      // Only the last line of a key is short; any other short word is one of a sentence.
      if (line === stop || (stop - line < FULL_LINE && !isLast)) break
      start = line
    }
    masked += text.slice(done, start) + MASK
    done = KEY_END.lastIndex
  }
  return masked + text.slice(done)
}

const KEY_END = /-----END [A-Z ]{0,40}PRIVATE KEY-----/g
const FULL_LINE = 48

/** Where what ends at `at` begins. */
function before(
  text: string,
  at: number,
  least: number,
  isOfIt: (text: string, at: number) => boolean,
): number {
  let start = at
  while (start > least && isOfIt(text, start - 1)) start -= 1
  return start
}

function isOfKey(text: string, at: number): boolean {
  return /[A-Za-z0-9+/=]/.test(text.charAt(at)) && !isEscaped(text, at)
}

function isGap(text: string, at: number): boolean {
  return /\s/.test(text.charAt(at)) || isEscaped(text, at) || isEscaped(text, at + 1)
}

/** Whether a line end is written here as `\\n`. */
function isEscaped(text: string, at: number): boolean {
  return /[nr]/.test(text.charAt(at)) && text.charAt(at - 1) === '\\'
}

/** `#access_token=…` at the end of an address. Not as a pattern: many `#` would each be read to the end. */
function maskFragment(text: string): string {
  const start = text.indexOf('#', text.lastIndexOf('\n') + 1)
  return start >= 0 && text.includes('=', start) ? `${text.slice(0, start + 1)}${MASK}` : text
}

/** `"apiKey": "…"`, unless the value is a reference. */
const MEMBER = /("([\w-]+)"\s*:\s*")(?!\$\{)(?:[^"\\]|\\.)+"/g

/**
 * `TOKEN=…`, `X-Api-Key: …`, `--header=Authorization:Bearer …`; never the `//` of an address, never a reference. Names and gaps
 * are bounded, or a long word would be read to its end from each of its letters.
 */
function maskPairs(text: string): string {
  const names = /([A-Za-z_][\w-]{0,99})\s{0,99}[=:]\s*(?!\/\/)/g
  const value = /((?:Bearer|Basic|Token)\s+)?[^\s;|&<>`'"(){}$,]+/y
  let masked = ''
  let done = 0
  for (let name = names.exec(text); name !== null; name = names.exec(text)) {
    value.lastIndex = names.lastIndex
    const found = isSecretName(name[1] ?? '') ? value.exec(text) : null
    if (found === null) continue
    masked += text.slice(done, names.lastIndex) + (found[1] ?? '') + MASK
    done = value.lastIndex
    names.lastIndex = done
  }
  return masked + text.slice(done)
}

/** `scheme://user:password@`; the scheme is bounded, or a long word would be tried from each of its letters. */
const PASSWORD = /(\b[a-z][a-z0-9+.-]{0,15}:\/\/[^\s:/@]{0,100}:)(?!\$\{)[^\s@/]+@/gi

/** `user:password@host` without its scheme. */
const BARE_PASSWORD = /(^[\w.-]{1,64}:)(?!\$\{|\/\/)[^\s@/]+@(?=[\w.-])/g

function hasPassword(text: string): boolean {
  return text.search(PASSWORD) >= 0
}

function isOneWord(text: string): boolean {
  return !/[\s;|&<>`$()]/.test(text)
}

/** One long word of mixed letters and digits, with more variety than names and versions have. */
function isRandom(text: string): boolean {
  if (text.length > 512) return false
  if (!/^[A-Za-z0-9+/_=-]{24,}$/.test(text)) return false
  if (!/\d/.test(text) || !/[A-Za-z]/.test(text) || /^[\w-]+(?:\/[\w-]+)+$/.test(text)) return false
  const counts = new Map<string, number>()
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits > 3.5 && !/^[a-z]+(?:[-_][a-z0-9]+)*$/.test(text)
}
