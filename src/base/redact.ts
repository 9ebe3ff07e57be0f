// Keeps secrets off the screen. What may be a secret is shown as a mask; the file and line say where the real one is.

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
  let masked = text.replace(PASSWORD, `$1${MASK}@`).replace(BARE_PASSWORD, `$1${MASK}@`)
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
  return masked
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
  const own = new Set([...secrets].filter((it) => it.length >= SHORTEST_SECRET).flatMap(formsOf))
  let known = -1
  let index: FormIndex | undefined
  return (text) => {
    if (known !== lessons) {
      const forms = [...own, ...[...learned.values()].flatMap((it) => [...it.values()])].flat()
      index = forms.length === 0 ? undefined : new FormIndex(new Set(forms))
      known = lessons
    }
    return index ? index.mask(text) : text
  }
}

/**
 * Adds a secret that came while the program ran, such as a token: every scrubber takes it out from now on. `owner` is
 * what it belongs to: only newer ones of the same owner make an old one be forgotten, never those of others.
 */
export function learnSecret(secret: string | undefined, owner: string): void {
  if (secret === undefined || secret.length < SHORTEST_SECRET) return
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

const SHORTEST_SECRET = 6
const MOST_LEARNED = 30
const learned = new Map<string, Map<string, readonly string[]>>()
let lessons = 0
const learnedOnly = scrubber([])

/**
 * Texts to look for, found by how they begin. One pattern of all of them costs the more the more they are: for 200
 * secrets 400 ms a megabyte, against 10.
 */
class FormIndex {
  readonly #shortest: number
  readonly #starts = new Uint8Array(0x4000)
  readonly #forms = new Map<number, string[]>()

  constructor(forms: Iterable<string>) {
    // The longest first, or the end of one that begins like another would stay.
    const ordered = [...forms].sort((one, other) => other.length - one.length)
    this.#shortest = ordered.at(-1)?.length ?? 0
    for (const form of ordered) {
      let start = 0
      for (let at = 0; at < START; at++) start = rolled(start, form.charCodeAt(at))
      this.#starts[start] = 1
      this.#forms.set(start, [...(this.#forms.get(start) ?? []), form])
    }
  }

  mask(text: string): string {
    if (text.length < this.#shortest) return text
    const starts = this.#starts
    let masked = ''
    let done = 0
    let start = 0
    for (let at = 0; at < text.length; at++) {
      start = rolled(start, text.charCodeAt(at))
      if (starts[start] === 0) continue
      const from = at + 1 - START
      const form = this.#forms.get(start)?.find((it) => from >= done && text.startsWith(it, from))
      if (form === undefined) continue
      masked += text.slice(done, from) + MASK
      done = from + form.length
      at = done - 1
    }
    return done === 0 ? text : masked + text.slice(done)
  }
}

/** So many characters decide where a form is kept: those that `rolled` has not shifted out. */
const START = 4

function rolled(start: number, code: number): number {
  return ((start << 4) ^ code) & 0x3fff
}

/** Every way in which a secret is usually written. */
function formsOf(secret: string): string[] {
  // Half a surrogate pair cannot be written in an address.
  const url = encodeURIComponent(Buffer.from(secret).toString())
  const strict = url.replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
  const urls = [url, strict, strict.replaceAll('%20', '+'), ...inAddress(secret)]
  const json = JSON.stringify(secret).slice(1, -1)
  const jsons = [json, json.replaceAll('/', '\\/'), inUnicode(json, /[<>&']/g)]
  const escaped = jsons.flatMap((form) => [
    form,
    inUnicode(form, NOT_ASCII),
    inUnicode(form, NOT_ASCII, true),
  ])
  return [
    secret,
    ...urls,
    ...urls.map((form) => form.replace(/%../g, (code) => code.toLowerCase())),
    ...escaped,
    ...escaped.map((form) => JSON.stringify(form).slice(1, -1)),
    ...base64Forms(Buffer.from(secret)),
  ]
}

/** As it stands in the path of an address, of which only some letters are escaped. */
function inAddress(secret: string): string[] {
  const text = Buffer.from(secret).toString()
  const address = new URL('http://localhost')
  address.pathname = `/${text}`
  const path = address.pathname.slice(1)
  // Dots and slashes may have been taken for steps.
  return path.length < text.length ? [encodeURI(text)] : [encodeURI(text), path]
}

const NOT_ASCII = /[^ -~]/g

function inUnicode(text: string, letters: RegExp, upper = false): string {
  return text.replace(letters, (unit) => {
    const code = unit.charCodeAt(0).toString(16).padStart(4, '0')
    return `\\u${upper ? code.toUpperCase() : code}`
  })
}

/** What bytes become in base64: alone, and behind none, one or two others as far as no neighbour matters. */
function base64Forms(secret: Buffer): string[] {
  const amid = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), secret])
    return bytes.toString('base64').slice(before && before + 1, Math.floor((bytes.length * 8) / 6))
  })
  const forms = [secret.toString('base64'), secret.toString('base64').replace(/=+$/, ''), ...amid]
  return forms.flatMap((form) => [
    form,
    form.replaceAll('+', '-').replaceAll('/', '_'),
    form.replaceAll('/', '\\/'),
    encodeURIComponent(form),
  ])
}

/** `#access_token=…` at the end of an address. Not as a pattern: many `#` would each be read to the end. */
function maskFragment(text: string): string {
  const start = text.indexOf('#', text.lastIndexOf('\n') + 1)
  return start >= 0 && text.includes('=', start) ? `${text.slice(0, start + 1)}${MASK}` : text
}

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
