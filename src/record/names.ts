// Who calls what, and by which door.

export class Names {
  /** Empty for the owner. */
  readonly agent: string
  /** Empty for a native tool. */
  readonly server: string
  /** `#method` for requests other than calls. */
  readonly tool: string
  readonly surface: string
  /** As they stand in a line of a journal. */
  readonly text: string

  constructor(agent: string, server: string, tool: string, surface: string) {
    this.agent = agent
    this.server = server
    this.tool = tool
    this.surface = surface
    this.text = [agent, server, tool, surface].map((name) => JSON.stringify(name)).join(',')
  }
}
