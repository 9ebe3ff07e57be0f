import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LiveScreen } from './live-screen.ts'

/** As much of a terminal as the screen needs: rows that scroll, and that are split anew when it becomes narrower. */
class Paper {
  columns: number
  rows = 1_000
  #lines = ['']
  #row = 0
  #column = 0

  constructor(columns: number) {
    this.columns = columns
  }

  write(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what moves a cursor
    for (const [part] of text.matchAll(/\u001b\[\d*[A-Za-z]|[^\u001b]/gu)) {
      if (part === '\n') this.#down()
      else if (part === '\r') this.#column = 0
      else if (part === '\u001b[A') this.#row = Math.max(0, this.#row - 1)
      else if (part === '\u001b[K') this.#lines[this.#row] = this.#line.slice(0, this.#column)
      else if (part.length > 1) throw new Error(`what is ${JSON.stringify(part)}?`)
      else this.#put(part)
    }
  }

  /** Lines as they are read, without the empty rest. */
  get shown(): string[] {
    return this.#lines.filter((line) => line !== '')
  }

  /** Narrower: every line takes as many rows as it needs, and the cursor stays behind the same text. */
  narrow(columns: number): void {
    const before = this.#lines.slice(0, this.#row)
    const split = before.flatMap((line) => line.match(new RegExp(`.{1,${columns}}`, 'g')) ?? [''])
    this.#lines = [...split, '']
    this.#row = split.length
    this.#column = 0
    this.columns = columns
  }

  get #line(): string {
    return this.#lines[this.#row] ?? ''
  }

  #down(): void {
    this.#row += 1
    this.#column = 0
    if (this.#row === this.#lines.length) this.#lines.push('')
  }

  #put(character: string): void {
    if (this.#column === this.columns) throw new Error('a line was too long')
    this.#lines[this.#row] =
      this.#line.slice(0, this.#column) + character + this.#line.slice(this.#column + 1)
    this.#column += 1
  }
}

const linesOf = (...texts: string[]) => texts.map((text) => ({ text, width: text.length }))

test('lines are drawn in place of the last ones, and what is said stands above them', () => {
  const paper = new Paper(20)
  const screen = new LiveScreen(paper)
  paper.write('first\n')
  screen.draw(linesOf('one', 'two', 'three'))
  screen.draw(linesOf('ONE', 'TWO'))
  expect(paper.shown).toEqual(['first', 'ONE', 'TWO'])
  screen.wipe()
  expect(screen.empty).toBe(true)
  paper.write('second\n')
  screen.draw(linesOf('one'))
  expect(paper.shown).toEqual(['first', 'second', 'one'])
  screen.wipe()
  screen.wipe()
  expect(paper.shown).toEqual(['first', 'second'])
})

test('nothing that was said is lost, however wide the terminal is and whatever happens to it', () => {
  const action = fc.oneof(
    fc.record({ say: fc.stringMatching(/^[a-z]{1,12}$/) }),
    fc.record({ draw: fc.array(fc.stringMatching(/^[A-Z]{0,60}$/), { maxLength: 5 }) }),
    fc.record({ narrow: fc.integer({ min: 12, max: 60 }) }),
  )
  fc.assert(
    fc.property(fc.array(action, { maxLength: 30 }), (actions) => {
      const paper = new Paper(60)
      const screen = new LiveScreen(paper)
      const said: string[] = []
      let drawn: string[] = []
      for (const act of actions) {
        if ('say' in act) {
          screen.wipe()
          paper.write(`${act.say}\n`)
          said.push(act.say)
        } else if ('draw' in act) drawn = act.draw
        else if (act.narrow < paper.columns) paper.narrow(act.narrow)
        drawn = drawn.map((line) => line.slice(0, paper.columns))
        screen.draw(linesOf(...drawn))
        expect(paper.shown).toEqual([...said, ...drawn.filter((line) => line !== '')])
      }
    }),
  )
})
