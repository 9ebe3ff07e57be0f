// What the product promises, row by row. A row that is `done` must be cited by a test (`[A1]` in its title);
// house.test.ts fails otherwise. `partial` says what is there and what is not.

export interface Requirement {
  readonly id: string
  readonly what: string
  readonly status: 'done' | 'partial' | 'planned'
  /** For a partial row: what is still missing. */
  readonly missing?: string
}

const done = (id: string, what: string): Requirement => ({ id, what, status: 'done' })
const planned = (id: string, what: string): Requirement => ({ id, what, status: 'planned' })
const partial = (id: string, what: string, missing: string): Requirement => ({
  id,
  what,
  status: 'partial',
  missing,
})

export const REQUIREMENTS: readonly Requirement[] = [
  done('A0', 'the master switch turns everything off and every command says so'),
  done('A1', 'the integrations section, agents, models and workers are read unchanged'),
  done('A2', 'per-agent and inline lists merge; defaults only where both are empty'),
  done('A3', 'names resolve with variables expanded; a missing one skips that server with one warning'),
  done('A4', 'a side-effect-free check whether a server can resolve'),
  done('A5', 'enforcement and prompt text from one resolved list'),
  done('A6', 'a disabled agent starts no server'),
  done('A7', 'one typed accessor for the configuration'),
  done('A8', 'validation at load with file, line and suggestion'),
  done('A9', 'a built-in catalog with exact versions'),
  done('A10', 'a prompt section for each agent, an overview for the lead'),
  done('A11', 'usage by server'),
  done('A12', 'integrations list, add, remove, status; comments survive'),
  planned('A13', 'an adapter in the shape of the Claude Agent SDK'),
  done('A14', 'Composio as one remote server'),
  done('B1', 'all transports'),
  done('B2', 'five statuses with scope, masked config and tools'),
  done('B3', 'connect, disconnect, reconnect, toggle'),
  done('B4', 'setServers diffs old and new'),
  done('B5', 'status of all and of one'),
  done('B6', 'calls with id correlation'),
  done('B7', 'resources and the two tools that expose them'),
  done('B8', 'tools appear and disappear with their server'),
  done('B9', 'JSON-RPC 2.0 exactly'),
  done('B10', 'no process survives disconnect'),
  done('B11', 'headers on every request, pooled connections'),
  done('B12', 'toggle hides tools and keeps the connection'),
  done('B13', 'a server’s error is a tool result'),
  done('B14', 'annotations feed the decision'),
  done('B15', 'MCP prompts'),
  done('C1', 'a client'),
  done('C2', 'stdio, http with fallback, websocket'),
  done('C3', 'user < project < local < flags; the seeds’ files; a bad file reported with file and line'),
  done('C4', 'discovery on connect, refreshed, in the form each provider wants'),
  done('C5', 'calls with every content type and time-outs'),
  done('C6', 'sign-in'),
  done('C7', 'a manager'),
  done('C8', 'names for execution and display'),
  done('C9', 'fast'),
  done('C10', 'one dead server never blocks the others'),
  done('C11', 'no config or answer runs an arbitrary command'),
  done('C12', 'end to end against real servers'),
  partial('C13', 'the second seed’s later list', 'a registry of servers, a page for them'),
  done('D1', 'client manager operations'),
  done('D2', 'energy of calls'),
  planned('D3', 'the sub-agent’s requests'),
  planned('D4', 'the bridge to the sub-agent'),
  done('D5', 'the loop’s own tools'),
  done('D6', 'mcp-servers.json and the MCP_* variables'),
  partial('D7', 'the regulator', 'polling and deducting what the sub-agent takes'),
  planned('D8', 'model-facing tools of the sub-agent'),
  planned('D9', 'what the sub-agent may do'),
  partial('D10', 'messages over HTTP while it works', 'the sub-agent in the background'),
  partial('D11', 'approvals', 'the console'),
  done('D12', 'a process of its own for each server'),
  partial('D13', 'failure is logged, backed off and told', 'telling it in conversations and the console'),
  partial(
    'D14',
    'edits reload without touching unchanged servers; a bad one is refused',
    'edits by the sub-agent',
  ),
  done('D15', 'analytics'),
  partial('D16', 'everything survives a restart', 'queue'),
  planned('D17', 'the fourth seed’s later list'),
  done('E1', 'the agent'),
  done('E2', 'native tools'),
  done('E3', 'one registry'),
  done('E4', 'names with the server’s id'),
  planned('E5', 'the panel'),
  done('E6', 'the bridge'),
  done('E7', 'cached definitions'),
  done('E8', 'health checks'),
  done('E9', 'versions of tool schemas'),
]
