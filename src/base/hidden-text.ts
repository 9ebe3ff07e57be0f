// Texts that are kept in a file and needed again as they were, without the secrets in them: each stands there as a number.

import { FormIndex, formsOf, SHORTEST } from './secret-forms.ts'

export class HiddenText {
  readonly #forms: readonly string[]
  readonly #numbers: ReadonlyMap<string, number>
  readonly #index: FormIndex

  constructor(secrets: Iterable<string>) {
    this.#forms = [...new Set([...secrets].filter((it) => it.length >= SHORTEST).flatMap(formsOf))]
    this.#numbers = new Map(this.#forms.map((form, number) => [form, number]))
    this.#index = new FormIndex(this.#forms)
  }

  hide(text: string): string {
    return this.#forms.length === 0
      ? text
      : this.#index.replace(text, (form) => `⟦${this.#numbers.get(form)}⟧`)
  }

  /** Right only with the same secrets, and where nobody wrote such a number himself: whoever kept it must be able to tell. */
  restore(text: string): string {
    return text.replace(/⟦(\d+)⟧/g, (mark, number: string) => this.#forms[Number(number)] ?? mark)
  }
}
