// Goes through login and consent as a person with a browser would: cookies, redirects, forms; no script runs.

export interface BrowseOptions {
  /** Who signs in; `ada` unless told. */
  user?: string
  /** Declines at the consent page. */
  deny?: boolean
  /** The cookies of an earlier visit: whoever is signed in is not asked again. */
  jar?: Jar
  /** Addresses that begin like this lead nowhere, as for a browser on another machine: the visit ends with status 0. */
  unreachable?: string
  signal?: AbortSignal
}

/** Where a visit ended. */
export interface Page {
  url: string
  status: number
  text: string
}

/** Cookies by host and path; like browsers, and unlike origins, blind to the port. */
export class Jar {
  #cookies = new Map<string, { host: string; path: string; name: string; value: string }>()

  take(url: URL, headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((one) => one.trim())
      const name = pair.slice(0, pair.indexOf('='))
      const value = pair.slice(pair.indexOf('=') + 1)
      const path = attribute(attributes, 'path') ?? '/'
      const expires = attribute(attributes, 'expires')
      const key = `${url.hostname} ${path} ${name}`
      const over = value === '' || (expires !== undefined && Date.parse(expires) < Date.now())
      if (over) this.#cookies.delete(key)
      else this.#cookies.set(key, { host: url.hostname, path, name, value })
    }
  }

  header(url: URL): string {
    return [...this.#cookies.values()]
      .filter(({ host, path }) => host === url.hostname && covers(path, url.pathname))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }
}

const MOST_STEPS = 30

/** Follows everything to the very end, the client's own redirect URI included, and answers the last page. */
export async function browse(start: string | URL, options: BrowseOptions = {}): Promise<Page> {
  const { user = 'ada', deny = false, jar = new Jar(), unreachable, signal = null } = options
  let url = new URL(start)
  let form: URLSearchParams | undefined
  for (let step = 0; step < MOST_STEPS; step++) {
    if (unreachable !== undefined && url.href.startsWith(unreachable))
      return { url: url.href, status: 0, text: '' }
    const response = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      ...(form !== undefined && { body: form }),
      headers: { cookie: jar.header(url), accept: 'text/html' },
      redirect: 'manual',
      signal,
    })
    jar.take(url, response.headers)
    form = undefined
    const text = await response.text()
    const location = response.headers.get('location')
    if (response.status >= 300 && response.status < 400 && location !== null) {
      url = new URL(location, url)
      continue
    }
    const found = findForm(text)
    if (found === undefined) return { url: url.href, status: response.status, text }
    form = filled(found.fields, { user, deny })
    url = new URL(found.action, url)
  }
  throw new Error(`no end after ${MOST_STEPS} steps; the last was ${url.href}`)
}

// --- internal ---

interface Form {
  action: string
  fields: { name: string; value: string }[]
}

function findForm(html: string): Form | undefined {
  const opening = /<form\b[^>]*>/i.exec(html)
  if (opening === null) return undefined
  const end = html.indexOf('</form>', opening.index)
  const inside = html.slice(opening.index, end === -1 ? undefined : end)
  const fields = [...inside.matchAll(/<input\b[^>]*>/gi)].flatMap(([tag]) => {
    const name = markup(tag, 'name')
    return name === undefined ? [] : [{ name, value: markup(tag, 'value') ?? '' }]
  })
  return { action: markup(opening[0], 'action') ?? '', fields }
}

function filled(fields: Form['fields'], answer: { user: string; deny: boolean }): URLSearchParams {
  const form = new URLSearchParams()
  for (const { name, value } of fields) form.set(name, name === 'login' ? answer.user : value)
  // Both our consent page and the provider's device page know this name.
  if (answer.deny && !form.has('login')) form.set('abort', 'yes')
  return form
}

function markup(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`, 'i').exec(tag)?.[1]
  return value?.replace(/&(amp|lt|gt|quot|#39);/g, (_, entity: string) => ENTITIES[entity] ?? '')
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

function attribute(attributes: readonly string[], name: string): string | undefined {
  const found = attributes.find((one) => one.toLowerCase().startsWith(`${name}=`))
  return found?.slice(name.length + 1)
}

function covers(path: string, pathname: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)
}
