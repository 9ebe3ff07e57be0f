// Keeps secrets off the screen. What may be a secret is shown as a mask; the file and line say where the real one is.

export const MASK = '••••••'

const SECRET_NAME =
  /(?:^|[^a-z])(?:api[-_]?key|apikey|auth|authorization|cookie|bearer|credentials?|dsn|pass|passwd|passphrase|password|pat|private[-_]?key|secret|signature|token)s?(?:$|[^a-z])|(?:key|secret|token|password|[-_]pwd)$/i
const SECRET_VALUE = [
  /\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{16,}/,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/,
  /\bglpat-[A-Za-z0-9_-]{16,}/,
  /\b(?:sk|rk|pk)[-_](?:ant-|proj-|live_|test_)?[A-Za-z0-9_-]{16,}/,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/,
  /\bAIza[A-Za-z0-9_-]{30,}/,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/,
  /\b(?:ntn|secret|lin_api|npm|hf|dop_v1|shpat)_[A-Za-z0-9_-]{16,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
]

/** Whether a name says that its value is a secret: GITHUB_TOKEN, apiKey, Authorization. */
export function isSecretName(name: string): boolean {
  // Words are told apart by case as well as by separators.
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2')
  return SECRET_NAME.test(words) && !/[-_](?:path|file|dir|folder|url|endpoint|name|type)$/i.test(words)
}

/** Whether a text looks like a key, whatever it is called. */
export function isSecretValue(text: string): boolean {
  return SECRET_VALUE.some((pattern) => pattern.test(text)) || hasPassword(text) || isRandom(text)
}

/** A text with everything masked that is known to be a secret by its form, its parameter's name or its place. */
export function maskText(text: string): string {
  let masked = text.replace(PASSWORD, `$1${MASK}@`).replace(BARE_PASSWORD, `$1${MASK}@`)
  masked = masked.replace(
    /([?&;]([\w.-]+)=)([^&#\s]+)/g,
    (whole, start: string, name: string, value: string) =>
      isSecretName(name) || /^(?:sig|code|key)$/i.test(name) || isRandom(value) ? `${start}${MASK}` : whole,
  )
  // A long random part of an address is a key, too.
  if (/^[a-z]{2,8}:\/\//i.test(text))
    masked = masked
      .replace(/#.*=.*$/, `#${MASK}`)
      .replace(/\/([^/?#]+)/g, (whole, part: string) => (isRandom(part) ? `/${MASK}` : whole))
  for (const pattern of SECRET_VALUE) masked = masked.replace(new RegExp(pattern.source, 'g'), MASK)
  return masked
}

/**
 * Takes given secrets out of texts, in whatever form they come back: as they are, in an address, in base64, in JSON.
 * Short ones are left alone, because they would be found in ordinary words.
 */
export function scrubber(secrets: Iterable<string>): (text: string) => string {
  const forms = new Set<string>()
  for (const secret of secrets) {
    if (secret.length < SHORTEST_SECRET) continue
    const quoted = JSON.stringify(secret).slice(1, -1)
    const base64 = Buffer.from(secret).toString('base64')
    for (const form of [secret, encodeURIComponent(secret), quoted, base64, base64.replace(/=+$/, '')])
      forms.add(form)
  }
  if (forms.size === 0) return (text) => text
  // The longest first, or the end of one that begins like another would stay.
  const ordered = [...forms].sort((one, other) => other.length - one.length)
  const pattern = new RegExp(
    ordered.map((form) => form.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|'),
    'g',
  )
  return (text) => text.replace(pattern, MASK)
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

const SHORTEST_SECRET = 6

/** `"apiKey": "…"`, unless the value is a reference. */
const MEMBER = /("([\w-]+)"\s*:\s*")(?!\$\{)(?:[^"\\]|\\.)+"/g

/** `TOKEN=…`, `X-Api-Key: …`, `--header=Authorization:Bearer …`; never the `//` of an address, never a reference. */
function maskPairs(text: string): string {
  const names = /([A-Za-z_][\w-]*)\s*[=:]\s*(?!\/\/)/g
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
