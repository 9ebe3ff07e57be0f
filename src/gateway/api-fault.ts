// Faults as `/api/*` tells them: without secrets, and such that the other side can make the same fault of it.

import { CODES, type Code, Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import { maskText } from '../base/redact.ts'
import type { ApiFault } from './api-types.ts'

export function apiFault({ code, message, hint, server, details }: Fault): ApiFault {
  const approval = details?.['approval']
  return {
    code,
    message: maskText(message),
    ...(hint === undefined ? {} : { hint: maskText(hint) }),
    ...(server === undefined ? {} : { server }),
    ...(typeof approval === 'string' ? { approval } : {}),
    ...(details === undefined ? {} : { details: shown(details) }),
  }
}

/** The fault that was told; anything else becomes one, too. `otherwise` is its message when it has none. */
export function faultFrom(told: unknown, otherwise: string): Fault {
  const { code, message, hint, server, approval, details } = isRecord(told) ? told : {}
  const more = {
    ...(isRecord(details) ? details : {}),
    ...(typeof approval === 'string' ? { approval } : {}),
  }
  return new Fault(isCode(code) ? code : 'SERVER_ERROR', typeof message === 'string' ? message : otherwise, {
    hint: typeof hint === 'string' ? hint : undefined,
    server: typeof server === 'string' ? server : undefined,
    details: Object.keys(more).length > 0 ? more : undefined,
  })
}

// --- internal ---

/** What a process wrote is masked; problems of files hold whole files. */
function shown({ stderr, problems: _, ...details }: Record<string, unknown>): Record<string, unknown> {
  return typeof stderr === 'string' ? { ...details, stderr: maskText(stderr) } : details
}

function isCode(code: unknown): code is Code {
  return typeof code === 'string' && Object.hasOwn(CODES, code)
}
