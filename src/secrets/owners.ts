// Whose a kept secret is, in words, and how its owner gives it again.

import { shellWord } from '../base/shell-word.ts'

/** Whose the secrets are that people set, by name; those of `server:NAME` and `server:NAME#ACCOUNT` are from signing in. */
export const PEOPLE = 'secret'

export interface Owner {
  /** What it is, as part of a sentence. */
  readonly text: string
  readonly server: string | undefined
  /** The command that gives it again. */
  readonly again: string
}

export function describeOwner(owner: string, field: string): Owner {
  const [, server, account] = /^server:([^#]+)(?:#(.+))?$/.exec(owner) ?? []
  if (server === undefined) {
    const text = owner === PEOPLE ? `the secret ${field}` : `${field} of ${owner}`
    return { text, server, again: `busbar secrets set ${shellWord(field)}` }
  }
  const as = account === undefined ? '' : ` --account ${shellWord(account)}`
  const text = `what signing in to ${server}${account === undefined ? '' : ` as ${account}`} left (${field})`
  return { text, server, again: `busbar login ${shellWord(server)}${as}` }
}
