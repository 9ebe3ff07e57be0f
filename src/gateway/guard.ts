// Who may speak to the gateway at all, before anybody asks who it is. A web page in the person's own browser can reach
// loopback; what gives it away are the names it uses.

/** Whether a Host header names this machine's loopback or a host that the configuration allows. */
export function isHostAllowed(host: string | undefined, allowed: readonly string[]): boolean {
  if (host === undefined || host === '') return false
  const name = host.replace(/:\d{1,5}$/, '').toLowerCase()
  return (
    LOOPBACK.has(name) ||
    allowed.some((it) => it.toLowerCase() === name || it.toLowerCase() === host.toLowerCase())
  )
}

/** Whether an Origin header, if there is one, belongs to the same. Programs send none; `null` is a hidden page's. */
export function isOriginAllowed(origin: string | undefined, allowed: readonly string[]): boolean {
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  return (protocol === 'http:' || protocol === 'https:') && isHostAllowed(host, allowed)
}

/** Whether an address to listen on can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host) || LOOPBACK.has(`[${host}]`) || /^127\./.test(host)
}

// --- internal ---

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])
