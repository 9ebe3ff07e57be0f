// What is wrong with a configuration, said so that a person can mend it: where, what, what was expected, what to do.

import { type Code, Fault } from '../base/fault.ts'
import { maskText } from '../base/redact.ts'
import type { Path } from './edit/change.ts'

export interface Problem {
  /** An error makes commands exit 1 and a reload be refused; a warning is only said. */
  readonly severity: 'error' | 'warning'
  readonly message: string
  /** The code of the fault it becomes when somebody needs the thing; default: CONFIG_INVALID. */
  readonly code?: Code
  /** The file, or a name such as `--mcp-server` for what came from elsewhere. */
  readonly file?: string
  readonly line?: number
  readonly column?: number
  /** The place inside the file, e.g. `agents.cto.servers[1]`. */
  readonly path?: string
  readonly hint?: string
  /** The server or agent that is affected; everything else goes on. */
  readonly server?: string
  readonly agent?: string
  /** It costs only the name it is about: nobody gets more by that. */
  readonly alone?: boolean
  /** Another file than the one it is in, which could not be read because of it. */
  readonly unread?: string
}

/** One line: `busbar.yaml:12: agents.cto.servers[1] is "githb"; did you mean "github"?` */
export function problemLine(problem: Problem): string {
  const place = [problem.file, problem.line].filter((part) => part !== undefined).join(':')
  const subject = problem.path ? `${problem.path} ` : ''
  const text = `${place === '' ? '' : `${place}: `}${subject}${problem.message}`
  return problem.hint ? `${text}; ${problem.hint}` : text
}

/** Problems in the order of a reader: file by file, as the files came up, from top to bottom. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  const files = [...new Set(problems.map((problem) => problem.file))]
  const rank = (problem: Problem) => files.indexOf(problem.file)
  return [...problems].sort((a, b) => rank(a) - rank(b) || (a.line ?? 0) - (b.line ?? 0))
}

/** A path as people write it: `servers.github.args[0]`, with quotes around keys that are not plain words. */
export function pathText(path: Path): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else if (/^[\w$-]+$/.test(step)) text += text === '' ? step : `.${step}`
    else text += `[${JSON.stringify(step)}]`
  }
  return text
}

/** What kind of value it is, where the value itself may be a secret. */
export function kindText(value: unknown): string {
  return typeof value === 'string' ? 'text' : valueText(value)
}

/** A value as shown in a message: short, quoted, on one line. */
export function valueText(value: unknown): string {
  if (value === undefined) return 'missing'
  // What is inside a list or map may be anything, secrets included.
  if (Array.isArray(value)) return value.length === 0 ? '[]' : 'a list'
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0 ? '{}' : 'a map'
  const text = typeof value === 'string' ? JSON.stringify(maskText(value)) : String(value)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

/** One fault for all errors of a configuration. `whole`: each has its line in the message, for who sees nothing else. */
export function configFault(
  errors: readonly Problem[],
  { whole = false, hint }: { readonly whole?: boolean; readonly hint?: string } = {},
): Fault {
  const [first] = errors
  const rest = errors.length - 1
  const one = first ? problemLine(first) : 'the configuration has problems'
  const all = `the configuration has ${errors.length} errors:${errors.map((it) => `\n- ${problemLine(it)}`).join('')}`
  return new Fault('CONFIG_INVALID', rest <= 0 ? one : whole ? all : `${one} (and ${rest} more)`, {
    hint: hint ?? first?.hint ?? 'run: busbar config check',
    server: first?.server,
    details: { problems: errors },
  })
}
