// The end of the process that runs conversations. What is under way then is neither ended nor failed: the next start takes
// it up where it was, as after a crash.

export class Closing extends Error {
  override readonly name = 'Closing'

  constructor() {
    super('conversations are taken up again at the next start')
  }
}
