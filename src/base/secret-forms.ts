// How a known secret may be written, and where one of many is in a text.

/**
 * Texts to look for, found by how they begin. One pattern of all of them costs the more the more they are: for 200
 * secrets 400 ms a megabyte, against 10.
 */
export class FormIndex {
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

  /** The text with something else in the place of each of them. */
  replace(text: string, by: (form: string) => string): string {
    if (text.length < this.#shortest) return text
    const starts = this.#starts
    let replaced = ''
    let done = 0
    let start = 0
    for (let at = 0; at < text.length; at++) {
      start = rolled(start, text.charCodeAt(at))
      if (starts[start] === 0) continue
      const from = at + 1 - START
      const form = this.#forms.get(start)?.find((it) => from >= done && text.startsWith(it, from))
      if (form === undefined) continue
      replaced += text.slice(done, from) + by(form)
      done = from + form.length
      at = done - 1
    }
    return done === 0 ? text : replaced + text.slice(done)
  }
}

/** Every way in which a secret is usually written. */
export function formsOf(secret: string): string[] {
  // What comes from a file ends with a line end, which is seldom repeated.
  const trimmed = secret.trim()
  const whole = trimmed === secret || trimmed.length < SHORTEST ? [secret] : [secret, trimmed]
  const written = whole.flatMap((it) => (it.includes('\n') ? [it, it.replaceAll('\n', '\r\n')] : [it]))
  return [...written.flatMap(writtenForms), ...linesOf(secret)]
}

/** Shorter secrets are left alone, because they would be found in ordinary words. */
export const SHORTEST = 6

// --- internal ---

function writtenForms(secret: string): string[] {
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
    Buffer.from(secret).toString('hex'),
    ...inPage(secret),
  ]
}

/** Lines of a key that are secrets each by itself: who writes them into a log may put the time before each. */
function linesOf(secret: string): string[] {
  if (!/\n|\\n/.test(secret)) return []
  return secret.split(/(?:\s|\\[nr]|["',])+/).filter((line) => LINE.test(line))
}

const LINE = /^(?:(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[\w+/=-]{20,}|[0-9a-f]{32,})$/

/** As a page of HTML writes it. */
function inPage(secret: string): string[] {
  const page = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const quoted = page.replaceAll('"', '&quot;')
  return [page, quoted, quoted.replaceAll("'", '&#39;'), quoted.replaceAll("'", '&#x27;')]
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

/** So many characters decide where a form is kept: those that `rolled` has not shifted out. */
const START = 4

function rolled(start: number, code: number): number {
  return ((start << 4) ^ code) & 0x3fff
}
