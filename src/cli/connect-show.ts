// What a person sees of a change to a client's file before it is made, and the question whether to make it.

import { Fault } from '../base/fault.ts'
import { type DiffLine, maskedDiff } from '../config/clients/diff.ts'
import { parseDocument, type Syntax } from '../config/document.ts'
import { safe } from './output.ts'
import { canAsk, confirm } from './prompt.ts'
import { oneLine } from './review.ts'
import type { Session } from './session.ts'

/** The difference between two texts of a client's file, masked and harmless. */
export async function showDiff(
  session: Session,
  file: string,
  syntax: Syntax,
  { before, after }: { readonly before: string; readonly after: string },
): Promise<string[]> {
  const values = await Promise.all(
    [before, after].map(async (text) => {
      const reading = await parseDocument(file, text, syntax)
      return reading.kind === 'document' ? reading.document.value : null
    }),
  )
  const diff = maskedDiff(before, after, values).map((line) => ({ ...line, text: safe(line.text) }))
  const { out } = session
  const shown = (line: DiffLine) => {
    const style = STYLES[line.kind]
    return style === undefined ? line.text : out.style(style, line.text)
  }
  out.note(out.style('bold', oneLine(file)))
  for (const line of diff) out.note(shown(line))
  return diff.map((line) => line.text)
}

/** Only goes on after a yes. */
export async function agree(session: Session, question: string, yes: boolean): Promise<void> {
  if (yes) return
  if (canAsk() && !session.out.json && (await confirm(question, session.signal))) return
  throw new Fault('NOT_TRUSTED', 'nothing was written', {
    hint:
      canAsk() && !session.out.json
        ? undefined
        : 'nobody can be asked here; look with --dry-run, then add --yes',
  })
}

// --- internal ---

const STYLES = { place: 'cyan', added: 'green', removed: 'red', same: undefined } as const
