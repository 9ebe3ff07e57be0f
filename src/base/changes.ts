// Counts, for the whole process, whatever may change how a call is made: the state of a server, its tools, a rule, a pin, a
// configuration. What was found out before holds for as long as the count does, and to look at one number costs nothing.
// Hubs that share a process share it: each then finds out anew a little more often than it would have to.

export const changes: { count: number } = { count: 0 }

/** To be called in the same step as the change, before anybody can act on what was true until then. */
export function changed(): void {
  changes.count += 1
}
