// The one line of what a program wrote before it ended that says why.

/** Undefined where it wrote nothing. */
export function lastWord(stderr: string): string | undefined {
  const lines = stderr.split('\n').map((line) => line.trim())
  const said = lines.filter((line) => line !== '' && !TRAILER.test(line))
  // Behind the error some programs write where it came from.
  const error = said.findLast((line) => ERROR.test(line))
  return error ?? said.at(-1) ?? lines.findLast((line) => line !== '')
}

/** A message about what a program wrote, once nothing in it has to be found any more. */
export function shortened(message: string): string {
  return message.length <= LONGEST ? message : `${message.slice(0, LONGEST)}…`
}

// --- internal ---

const LONGEST = 500

/** What Node writes last, whatever happened, and what closes an error that it shows with its properties. */
const TRAILER = /^(?:Node\.js v\d[\d.]*|at .+|\^+|[\])}]+,?|(?:code|url|requireStack): .+)$/
/** `TypeError: …`, `[Error: …]`, `Uncaught Error [ERR_X]: …`, `some.module.SomeException: …` */
const ERROR =
  /^\[?(?:Uncaught )?(?:[A-Za-z_$][\w$]*\.)*[A-Z]\w*(?:Error|Exception)(?: \[\w+\])?: |^\[?(?:Uncaught )?Error(?: \[\w+\])?: /
