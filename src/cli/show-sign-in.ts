// Shows a person where to sign in, opens it where there is a screen, and takes what they paste back.

import { createInterface } from 'node:readline'
import { Fault } from '../base/fault.ts'
import type { OnSignIn, SignInRequest } from '../connect/auth/account.ts'
import { hasScreen, openBrowser } from './open-browser.ts'
import { type Output, safe } from './output.ts'

interface Showing {
  readonly out: Output
  /** Not even where there is a screen. */
  readonly noBrowser: boolean
}

export function showSignIn({ out, noBrowser }: Showing): OnSignIn {
  return async (request) => {
    const { url, userCode, account, server } = request
    // Programs get one line for each thing a person has to do.
    if (out.json) process.stderr.write(`${JSON.stringify({ signIn: shown(request) })}\n`)
    const as = account === undefined ? '' : ` as ${safe(account)}`
    const opened = !noBrowser && hasScreen(process.env) && (await openBrowser(url, process.env))
    out.note(
      opened
        ? `Signing in to ${safe(server)}${as} in your browser. If it did not open, go to:`
        : `To sign in to ${safe(server)}${as}, open this address in a browser, on this machine or any other:`,
    )
    out.note(`\n  ${safe(url)}\n`)
    if (userCode !== undefined) out.note(`and type in the code: ${safe(userCode)}\n`)
    else if (!opened) await pasteBack(request, out)
  }
}

// --- internal ---

function shown({ server, account, url, userCode, expires }: SignInRequest) {
  return { server, account, url, userCode, expires: new Date(expires).toISOString() }
}

/** A browser elsewhere cannot come back to this machine: the address it ends at is the answer. */
async function pasteBack({ paste, signal }: SignInRequest, out: Output): Promise<void> {
  out.note('When the browser has finished, and cannot show a page at 127.0.0.1, paste its address here:')
  const lines = createInterface({ input: process.stdin })
  signal.addEventListener('abort', () => lines.close(), { once: true })
  if (signal.aborted) lines.close()
  for await (const line of lines) {
    if (line.trim() === '') continue
    try {
      paste(line)
      lines.close()
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      out.warn(`${error.message}; ${error.hint}`)
    }
  }
}
