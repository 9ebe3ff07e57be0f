// The table of commands. Each loads only when it is called, so `busbar list` does not pay for the others.

import type { Command, Group } from './command.ts'

export interface Entry {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<{ readonly spec: Command | Group }>
}

export const COMMANDS: readonly Entry[] = [
  { name: 'up', summary: 'run the gateway', load: () => import('./commands/up.ts') },
  {
    name: 'serve',
    summary: 'the gateway on stdin and stdout',
    load: () => import('./commands/serve.ts'),
  },
  { name: 'add', summary: 'add a server', load: () => import('./commands/add.ts') },
  { name: 'add-json', summary: 'add a server given as JSON', load: () => import('./commands/add-json.ts') },
  {
    name: 'import',
    summary: 'take over servers from other tools',
    load: () => import('./commands/import.ts'),
  },
  {
    name: 'connect',
    summary: 'write Busbar into the configuration of a client, or take it out again',
    load: () => import('./commands/connect.ts'),
  },
  { name: 'list', summary: 'list servers', load: () => import('./commands/list.ts') },
  {
    name: 'get',
    summary: 'show one server and where each value was set',
    load: () => import('./commands/get.ts'),
  },
  {
    name: 'remove',
    summary: 'remove a server and every mention of it',
    load: () => import('./commands/remove.ts'),
  },
  { name: 'enable', summary: 'switch a server on', load: () => import('./commands/enable.ts') },
  { name: 'disable', summary: 'switch a server off', load: () => import('./commands/disable.ts') },
  { name: 'tools', summary: 'list tools', load: () => import('./commands/tools.ts') },
  { name: 'call', summary: 'call a tool', load: () => import('./commands/call.ts') },
  { name: 'chat', summary: 'talk to the built-in agent', load: () => import('./commands/chat.ts') },
  { name: 'resources', summary: 'list resources', load: () => import('./commands/resources.ts') },
  { name: 'read', summary: 'read a resource', load: () => import('./commands/read.ts') },
  { name: 'prompts', summary: 'list prompts', load: () => import('./commands/prompts.ts') },
  { name: 'login', summary: 'sign in to a server', load: () => import('./commands/login.ts') },
  {
    name: 'logout',
    summary: 'sign out of a server, and erase its tokens',
    load: () => import('./commands/logout.ts'),
  },
  {
    name: 'restart',
    summary: 'stop and start a server of the running gateway',
    load: () => import('./commands/restart.ts'),
  },
  {
    name: 'trust',
    summary: 'see and accept what a project would run',
    load: () => import('./commands/trust.ts'),
  },
  {
    name: 'secrets',
    summary: 'keep what must not stand in a file',
    load: () => import('./commands/secrets.ts'),
  },
  {
    name: 'pins',
    summary: 'tools whose definition changed, and accepting it',
    load: () => import('./commands/pins.ts'),
  },
  {
    name: 'agents',
    summary: 'agents: who may use what, and their tokens',
    load: () => import('./commands/agents.ts'),
  },
  {
    name: 'explain',
    summary: 'why an agent may call a tool or not',
    load: () => import('./commands/explain.ts'),
  },
  {
    name: 'prompt',
    summary: 'what an agent is told of its servers',
    load: () => import('./commands/prompt.ts'),
  },
  {
    name: 'approve',
    summary: 'what agents ask a person for, and the answers',
    load: () => import('./commands/approve.ts'),
  },
  {
    name: 'usage',
    summary: 'what was called, and what came of it',
    load: () => import('./commands/usage.ts'),
  },
  {
    name: 'energy',
    summary: 'what agents have left, and what they spent',
    load: () => import('./commands/energy.ts'),
  },
  {
    name: 'integrations',
    summary: 'the catalog of well-known servers',
    load: () => import('./commands/integrations.ts'),
  },
  {
    name: 'config',
    summary: 'path, show, check and schema of the configuration',
    load: () => import('./commands/config.ts'),
  },
  {
    name: 'doctor',
    summary: 'find what is wrong and how to mend it',
    load: () => import('./commands/doctor.ts'),
  },
  { name: 'completion', summary: 'shell completion', load: () => import('./commands/completion.ts') },
]
