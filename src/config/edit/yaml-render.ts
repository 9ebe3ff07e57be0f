// New values as YAML text. The `yaml` package decides on quotes; here is only where the text will stand.

import { Document, type ToStringOptions, visit } from 'yaml'

/** What the file shows of its writer's habits. */
export interface Style {
  readonly eol: string
  readonly indent: number
  /** Lists under a key are indented, not flush with it. */
  readonly indentSeq: boolean
  readonly version: '1.1' | '1.2' | 'next'
}

/** A value in block context: `head` stands behind the key, `lines` below. */
interface Rendered {
  /** Empty for a block collection. */
  readonly head: string
  /** A collection's lines start at column 0; a block scalar's carry their own indent. */
  readonly lines: readonly string[]
}

/** With `literal` false no string becomes a block scalar, which would swallow a comment on the line below it. */
export function renderValue(value: unknown, style: Style, literal: boolean): Rendered {
  if (isFilled(value)) return { head: '', lines: blockLines(value, style, literal) }
  // At the root a block scalar has no indent, so it is rendered under a key that is cut away.
  const [first = '', ...lines] = blockLines({ k: value }, style, literal)
  return { head: first.slice('k: '.length), lines }
}

/** The lines of a map's entry or, without a key, of a list's element. */
export function renderEntry(
  key: string | number | undefined,
  value: unknown,
  style: Style,
  literal: boolean,
): readonly string[] {
  return blockLines(key === undefined ? [value] : { [key]: value }, style, literal)
}

/** An entry for `{…}`, or an element for `[…]` when it has no key. Always one line. */
export function renderFlow(key: string | number | undefined, value: unknown, style: Style): string {
  const holder = key === undefined ? [value] : { [key]: value }
  const text = print(holder, style, (string) => string.includes('\n'), {
    collectionStyle: 'flow',
    flowCollectionPadding: false,
  }).trimEnd()
  if (!text.includes('\n')) return text.slice(1, -1)
  // JSON is YAML's flow form with every string quoted.
  return key === undefined
    ? JSON.stringify(value)
    : `${JSON.stringify(String(key))}: ${JSON.stringify(value)}`
}

// --- internal ---

function isFilled(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

function blockLines(value: unknown, style: Style, literal: boolean): string[] {
  const quoted = (string: string): boolean => string.includes('\n') && (!literal || !isCleanText(string))
  return print(value, style, quoted, {}).replace(/\n$/, '').split('\n')
}

/** Text that reads the same as a block scalar wherever it is put: no blank or spaced edges, no control characters. */
function isCleanText(text: string): boolean {
  return /^\S/.test(text) && !/[ \t]$|[ \t]\n|\n\n$|[^\n\t\P{Cc}]/u.test(text)
}

function print(
  value: unknown,
  style: Style,
  quoted: (text: string) => boolean,
  options: ToStringOptions,
): string {
  const document = new Document(value, { version: style.version, aliasDuplicateObjects: false })
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && quoted(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  const { indent, indentSeq } = style
  return document.toString({
    indent,
    indentSeq,
    directives: false,
    lineWidth: 0,
    blockQuote: 'literal',
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
    ...options,
  })
}
