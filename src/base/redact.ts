// Keeps secrets off the screen. What may be a secret is shown as a mask; the file and line say where the real one is.

export const MASK = '••••••'

const SECRET_NAME =
  /(?:^|[^a-z])(?:api[-_]?key|apikey|auth|authorization|bearer|credentials?|dsn|pass|passwd|passphrase|password|pat|private[-_]?key|secret|signature|token)s?(?:$|[^a-z])|(?:key|secret|token|password)$/i
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
  let masked = text.replace(PASSWORD, `$1${MASK}@`)
  masked = masked.replace(
    /([?&;]([\w.-]+)=)([^&#\s]+)/g,
    (whole, start: string, name: string, value: string) =>
      isSecretName(name) || isRandom(value) ? `${start}${MASK}` : whole,
  )
  // A long random part of an address is a key, too.
  if (/^[a-z]{2,8}:\/\//i.test(text))
    masked = masked.replace(/\/([^/?#]+)/g, (whole, part: string) => (isRandom(part) ? `/${MASK}` : whole))
  for (const pattern of SECRET_VALUE) masked = masked.replace(new RegExp(pattern.source, 'g'), MASK)
  return masked
}

/**
 * Arguments with secrets masked: what follows a flag such as `--api-key`, `KEY=value`, a header `Name: value`, a member
 * of JSON. Text that a shell or an interpreter would run is left readable, or nobody could judge it.
 */
export function maskArguments(args: readonly string[], isReference: (text: string) => boolean): string[] {
  return args.map((argument, index) => {
    const flag = args[index - 1] ?? ''
    const follows = /^--?[\w-]+$/.test(flag) && isSecretName(flag) && !argument.startsWith('-')
    if (follows && isOneWord(argument) && !isReference(argument)) return MASK
    const [, start, name, value] = /^((?:--?)?([\w-]+)(?:=|:\s+))([\s\S]+)$/.exec(argument) ?? []
    const secret = name !== undefined && value !== undefined && isSecretName(name) && !isReference(value)
    if (secret && /^(?:\w+ )?[^\s;|&<>`$()]+$/.test(value)) return `${start}${MASK}`
    return maskText(argument).replace(
      /("([\w-]+)"\s*:\s*")((?:[^"\\]|\\.)+)"/g,
      (whole, open: string, key: string, text: string) =>
        isSecretName(key) && !isReference(text) ? `${open}${MASK}"` : whole,
    )
  })
}

// --- internal ---

/** `scheme://user:password@`; the scheme is bounded, or a long word would be tried from each of its letters. */
const PASSWORD = /(\b[a-z][a-z0-9+.-]{0,15}:\/\/[^\s:/@]{0,100}:)(?!\$\{)[^\s@/]+@/gi

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
