// `busbar agents`: who there is, what each may use, and their tokens.

import { Fault } from '../../base/fault.ts'
import { nearest } from '../../base/suggest.ts'
import { removeAgent, type Target } from '../../config/plan.ts'
import { placeOf } from '../../config/tree.ts'
import { addNewAgent } from '../add-agent.ts'
import { agentToken, revokeAll } from '../agent-token.ts'
import { grantTo, revokeFrom, setAgent } from '../change-agent.ts'
import { command, type Group } from '../command.ts'
import { placeText } from '../describe.ts'
import { layerTarget, makeEdits, SCOPE_OPTION } from '../edit.ts'
import { forgetAnswers } from '../forget-answers.ts'
import { failOnErrors, type Session } from '../session.ts'

interface AddOptions {
  readonly scope?: string
  readonly server?: readonly string[]
  readonly model?: string
  readonly approval?: string
  readonly force?: boolean
}

export const spec: Group = {
  fallback: 'list',
  commands: {
    list: command({
      summary: 'list agents and workers with the servers each may use',
      help: `
Example:
  busbar agents list --json`,
      run: list,
    }),
    add: command({
      summary: 'add an agent',
      words: '<name>',
      options: {
        scope: SCOPE_OPTION,
        server: { value: 'name', many: true, about: 'a server it may use; "*" is all (repeatable)' },
        model: { value: 'model', about: 'the model of its engine' },
        approval: { value: 'preset', about: 'always, writes, destructive or never' },
        force: { about: 'replace an agent of that name' },
      },
      help: `
Examples:
  busbar agents add cto --server github --server linear
  busbar agents add intern --approval always`,
      run: async (session, [name = ''], options) => await add(session, name, options),
    }),
    remove: command({
      summary: 'remove an agent and revoke its tokens',
      words: '<name>',
      help: `
Example:
  busbar agents remove intern`,
      run: async (session, [name = '']) => await remove(session, name),
    }),
    grant: command({
      summary: 'let an agent use a server or a tool',
      words: '<name> <server[/tool]>',
      help: `
A pattern that the agent is denied, written exactly as it stands there, is taken out of what is denied.

Examples:
  busbar agents grant intern github
  busbar agents grant intern 'github/get_*'
  busbar agents grant cto/reviewer github/create_review`,
      run: async (session, [name = '', pattern = '']) => await grantTo(session, name, pattern),
    }),
    revoke: command({
      summary: 'take a server from an agent, or deny it a tool',
      words: '<name> <server[/tool]>',
      help: `
Examples:
  busbar agents revoke intern github
  busbar agents revoke intern 'github/delete_*'`,
      run: async (session, [name = '', pattern = '']) => await revokeFrom(session, name, pattern),
    }),
    enable: command({
      summary: 'switch an agent on',
      words: '<name>',
      help: `
Example:
  busbar agents enable intern`,
      run: async (session, [name = '']) =>
        await setAgent(session, name, 'enabled', true, `${name} is on: it may use its servers.`),
    }),
    disable: command({
      summary: 'switch an agent off',
      words: '<name>',
      help: `
Example:
  busbar agents disable intern`,
      run: async (session, [name = '']) =>
        await setAgent(session, name, 'enabled', false, `${name} is off: it may use nothing.`),
    }),
    approval: command({
      summary: 'say when a person is asked before an agent calls',
      words: '<name> <preset>',
      help: `
The presets: always, writes, destructive, never.

Example:
  busbar agents approval cto writes`,
      run: async (session, [name = '', preset = '']) => {
        checkPreset(preset)
        await setAgent(session, name, 'approval', preset, `${name}: a person is asked ${preset}.`)
      },
    }),
    token: command({
      summary: 'make, list or revoke the tokens by which an agent is known',
      words: '<name>',
      options: {
        expires: { value: 'time', about: 'after which it opens nothing, such as 30d; default: never' },
        replace: { about: 'revoke its other tokens' },
        list: { about: 'list its tokens, which cannot be shown again themselves' },
        revoke: { about: 'revoke all its tokens, or one with --id' },
        id: { value: 'id', about: 'the token that is meant, as --list shows it' },
      },
      help: `
The token is printed once, alone on stdout; Busbar keeps a digest. A running gateway knows it at once.

Examples:
  busbar agents token cto
  busbar agents token cto --expires 30d --replace
  CTO_TOKEN=$(busbar agents token cto)
  busbar agents token cto --revoke`,
      run: async (session, [name = ''], options) => await agentToken(session, name, options),
    }),
  },
}

// --- internal ---

const PRESETS = ['always', 'writes', 'destructive', 'never']

function checkPreset(preset: string): void {
  if (!PRESETS.includes(preset))
    throw new Fault('USAGE', `approval is "${preset}"; expected one of ${PRESETS.join(', ')}`)
}

async function list(session: Session): Promise<void> {
  const { snapshot, subjects, active } = await session.load({ warnings: false })
  const { config, tree } = snapshot
  const asking = new Set(
    subjects.filter((it) => it.kind === 'settings' && it.state !== 'trusted').map((it) => it.file),
  )
  const agents = snapshot.assignments.map((it) => {
    const path = it.worker === undefined ? ['agents', it.agent] : ['agents', it.agent, 'workers', it.worker]
    const definition = config.agents[it.agent]
    const own = it.worker === undefined ? definition : definition?.workers[it.worker]
    const place = placeOf(tree, path)
    return {
      name: it.id,
      ...(it.worker === undefined ? {} : { worker: it.worker, agent: it.agent }),
      enabled: it.enabled,
      model: own?.model ?? null,
      servers: it.servers,
      from: it.from,
      approval: definition?.approval ?? config.defaults.approval,
      trusted: !asking.has(place.origin.file),
      source: place.origin.file,
      line: place.origin.position(place.path)?.line ?? null,
      where: placeText(place),
    }
  })
  session.out.answer(
    { enabled: active.config.enabled, agents: agents.map(({ where, ...agent }) => agent) },
    () =>
      agents.length === 0
        ? 'No agents yet. Run: busbar agents add NAME --server SERVER'
        : session.out.table(
            ['AGENT', 'STATE', 'MODEL', 'SERVERS', 'APPROVAL', 'SOURCE', 'NOTE'],
            agents.map((agent) => [
              agent.name,
              agent.enabled ? 'on' : 'off',
              agent.model ?? '-',
              `${agent.servers.join(', ') || '-'}${agent.from === 'defaults' && agent.servers.length > 0 ? ' (default)' : ''}`,
              agent.approval,
              agent.where,
              agent.trusted ? '' : 'not trusted yet: busbar trust',
            ]),
          ),
  )
  failOnErrors(snapshot)
}

async function add(session: Session, name: string, options: AddOptions): Promise<void> {
  if (options.approval !== undefined) checkPreset(options.approval)
  const { server: servers, ...rest } = options
  const { file } = await addNewAgent(session, name, { servers, ...rest })
  session.out.answer({ added: name, file }, () => [
    `Added the agent ${name}.`,
    `See what it may use: busbar agents list`,
  ])
}

async function remove(session: Session, name: string): Promise<void> {
  const snapshot = await session.snapshot()
  const names = Object.keys(snapshot.config.agents)
  const edits = snapshot.layers
    .filter(({ source }) => source.format.ours && source.scope !== 'flag' && source.scope !== 'managed')
    .filter(
      ({ source }) => removeAgent({ format: source.format, value: source.document.value }, name).length > 0,
    )
    .map(({ source }) => ({
      target: layerTarget(snapshot, source.file),
      plan: (file: Target) => removeAgent(file, name),
      meant: { agents: [name] },
    }))
  if (edits.length === 0) {
    const near = nearest(name, names)
    throw new Fault('AGENT_UNKNOWN', `no agent is called "${name}"`, {
      hint: near
        ? `did you mean "${near}"?`
        : names.length > 0
          ? `there are: ${names.join(', ')}`
          : 'there are none yet; run: busbar agents add NAME',
    })
  }
  const { written, after } = await makeEdits(session, snapshot, edits)
  if (after.config.agents[name] === undefined)
    await forgetAnswers(session, ({ agent }) => agent === name || agent?.startsWith(`${name}/`) === true)
  const workers = Object.keys(snapshot.config.agents[name]?.workers ?? {})
  const revoked = await revokeAll(session, name, workers)
  session.out.answer(
    { removed: name, files: written.map((it) => it.file), revoked },
    () =>
      `Removed the agent ${name}${revoked === 0 ? '' : ` and revoked its token${revoked === 1 ? '' : 's'}`}.`,
  )
}
