// URI templates (RFC 6570) read backwards: whether a URI may have come from one. Levels 1 to 3 by the letter; of level 4
// a prefix is not counted and an exploded variable may be anything its place allows. A template is a stranger's text, so
// there is no regular expression in this, and what a match may cost has a bound.

/** How many steps all matches that share it may take together. */
export interface Effort {
  left: number
}

export class UriTemplate {
  /** The same for two templates that differ only in names which do not show in what they expand to. */
  readonly shape: string
  /** How many characters stand for themselves: the more, the more it says. */
  readonly literals: number
  readonly #parts: readonly Part[]

  private constructor(shape: string, parts: readonly Part[]) {
    this.shape = shape
    this.#parts = parts
    this.literals = parts.reduce((sum, { leads, run }) => sum + (run ? 0 : (leads[0]?.length ?? 0)), 0)
  }

  /** Undefined for what is no template, or too long to be a sane one. */
  static read(text: string): UriTemplate | undefined {
    if (text.length > MAX_TEMPLATE) return undefined
    const parts: Part[] = []
    let shape = ''
    for (let at = 0; at < text.length; ) {
      const open = text.indexOf('{', at)
      const literal = text.slice(at, open < 0 ? text.length : open)
      if (literal.includes('}')) return undefined
      if (literal !== '') parts.push({ leads: [literal], run: undefined, optional: false })
      shape += literal
      if (open < 0) break
      const close = text.indexOf('}', open)
      const expression = close < 0 ? undefined : readExpression(text.slice(open + 1, close))
      if (expression === undefined) return undefined
      // Not spread: the list of variables is as long as a stranger made it.
      for (const part of expression.parts) parts.push(part)
      shape += expression.shape
      at = close + 1
    }
    return new UriTemplate(shape, parts)
  }

  /** Whether a URI may have come from it. Says no when the effort is used up. */
  fits(uri: string, effort: Effort): boolean {
    effort.left -= 1
    if (uri.length > MAX_URI || !this.#beginsLike(uri)) return false
    // Every place in the URI that can be reached so far; each part takes them all one step on, so nothing is tried twice.
    let reached: Places = new Uint8Array(uri.length + 1)
    reached[0] = 1
    for (const part of this.#parts) {
      if (effort.left <= 0) return false
      const next = advance(part, uri, reached, effort)
      if (next === undefined) return false
      reached = next
    }
    return reached[uri.length] === 1
  }

  // --- internal ---

  /** Nearly all that do not fit end here. */
  #beginsLike(uri: string): boolean {
    const first = this.#parts[0]
    return first === undefined || first.run !== undefined || uri.startsWith(first.leads[0] ?? '')
  }
}

// --- internal ---

const MAX_TEMPLATE = 2_048
const MAX_URI = 8_192

/** One of the leads, then any number of characters of the run; a part that is optional may be absent as a whole. */
interface Part {
  /** All of the same length. */
  readonly leads: readonly string[]
  readonly run: Run | undefined
  readonly optional: boolean
}

/** The characters that end a run. Encoded ones are in every run, and so are letters beyond ASCII that nobody encoded. */
type Run = '' | '#' | '?#' | '&#' | '/?#'

/** For each place in a URI whether it can be reached. */
type Places = Uint8Array<ArrayBuffer>

/** All that can be reached by one part; undefined when nothing is. */
function advance(
  { leads, run, optional }: Part,
  uri: string,
  reached: Places,
  effort: Effort,
): Places | undefined {
  const next = new Uint8Array(uri.length + 1)
  for (let at = 0; at <= uri.length; at++) {
    if (reached[at] === 0) continue
    for (const lead of leads) {
      effort.left -= 1 + lead.length
      if (uri.startsWith(lead, at)) next[at + lead.length] = 1
    }
  }
  if (run !== undefined)
    for (let at = 0; at < uri.length; at++)
      if (next[at] === 1 && !run.includes(uri.charAt(at))) next[at + 1] = 1
  effort.left -= uri.length
  let any = false
  for (let at = 0; at <= uri.length; at++) {
    if (optional && reached[at] === 1) next[at] = 1
    any ||= next[at] === 1
  }
  return any ? next : undefined
}

/** Names and modifiers of variables; a hyphen is not in the RFC, and in use. */
const VARIABLE = /^([\w.%-]+)(\*|:\d{1,4})?$/
const OPERATORS = '+#./;?&'

function readExpression(inside: string): { parts: Part[]; shape: string } | undefined {
  const first = inside.charAt(0)
  const operator = first !== '' && OPERATORS.includes(first) ? first : ''
  const variables: Variable[] = []
  for (const text of inside.slice(operator.length).split(',')) {
    const [, name, modifier = ''] = VARIABLE.exec(text) ?? []
    if (name === undefined) return undefined
    variables.push({ name, modifier })
  }
  const named = operator === ';' || operator === '?' || operator === '&'
  const shown = variables.map(({ name, modifier }) => (named ? name + modifier : modifier))
  return { parts: partsOf(operator, variables), shape: `{${operator}${shown.join(',')}}` }
}

interface Variable {
  readonly name: string
  readonly modifier: string
}

/** What an expression can expand to; a variable without a value leaves nothing behind. */
function partsOf(operator: string, variables: readonly Variable[]): Part[] {
  const one = (leads: string[], run: Run): Part[] => [{ leads, run, optional: leads[0] !== '' }]
  const exploded = variables.some(({ modifier }) => modifier === '*')
  switch (operator) {
    case '+':
      return one([''], '')
    case '#':
      return one(['#'], '')
    case '.':
      return one(['.'], '/?#')
    case '/':
      return one(['/'], variables.length > 1 || exploded ? '?#' : '/?#')
    case ';':
    case '?':
    case '&':
      return exploded ? one(operator === ';' ? [';'] : ['?', '&'], '#') : namedParts(operator, variables)
    default:
      return one([''], '/?#')
  }
}

function namedParts(operator: string, variables: readonly Variable[]): Part[] {
  // Whichever is the first that has a value comes behind the question mark.
  return variables.map(({ name }) => ({
    leads: operator === ';' ? [`;${name}`] : [`?${name}=`, `&${name}=`],
    run: operator === ';' ? '/?#' : '&#',
    optional: true,
  }))
}
