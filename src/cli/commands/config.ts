// `busbar config path|show|check|schema`.

import { errorsOf } from '../../config/load.ts'
import { configFault, pathText } from '../../config/problem.ts'
import { homeOf } from '../../config/sources.ts'
import { missingWarnings } from '../../config/status.ts'
import { leaves, plain } from '../../config/tree.ts'
import { maskSecrets } from '../../config/view.ts'
import { command, type Group } from '../command.ts'
import { nearPath, placeText } from '../describe.ts'
import { safe } from '../output.ts'
import { failOnErrors, type Session } from '../session.ts'

export const spec: Group = {
  commands: {
    path: command({
      summary: 'where configuration is looked for, lowest layer first, and where it would be written',
      help: `
Example:
  busbar config path`,
      run: path,
    }),
    show: command({
      summary: 'the merged configuration with the file and line of each value; secrets are masked',
      help: `
Examples:
  busbar config show
  busbar config show --json`,
      run: show,
    }),
    check: command({
      summary: 'report every problem at once; exit 1 when there is an error',
      options: { watch: { about: 'check again whenever a file changes, until Ctrl-C' } },
      help: `
Examples:
  busbar config check
  busbar config check --config team.yaml --json
  busbar config check --watch`,
      run: async (session, _, { watch }) => {
        if (!watch) return await check(session)
        const { watchCheck } = await import('../watch-check.ts')
        await watchCheck(session)
      },
    }),
    schema: command({
      summary: 'the JSON Schema of the native format, for editors',
      help: `
Example:
  busbar config schema > busbar.schema.json`,
      run: async () => {
        const { jsonSchema } = await import('../../config/schema-json.ts')
        process.stdout.write(`${JSON.stringify(jsonSchema(), null, 2)}\n`)
      },
    }),
  },
}

// --- internal ---

async function path(session: Session): Promise<void> {
  const { snapshot } = await session.load({ warnings: false })
  const { places, root, looked } = snapshot
  const writes = Object.fromEntries(
    (['project', 'user', 'local'] as const).map((scope) => [scope, homeOf(scope, root, places)]),
  )
  session.out.answer({ root, sources: looked, writes, state: places.state }, () => [
    ...session.out.table(
      ['SCOPE', 'FILE', 'STATE', 'FORMAT'],
      looked.map((it) => [it.scope, nearPath(it.file), it.state, it.format ?? '']),
    ),
    '',
    `project folder  ${safe(root)}`,
    `state folder    ${safe(places.state)}`,
  ])
}

async function show(session: Session): Promise<void> {
  const { snapshot } = await session.load({ warnings: false })
  const config = maskSecrets(snapshot.config)
  const written = maskSecrets(plain(snapshot.tree))
  const rows = [...leaves(snapshot.tree)].map(({ path: at, tree }) => {
    let value: unknown = written
    for (const step of at) value = Reflect.get(Object(value), step)
    return { path: pathText(at), value, source: placeText(tree.place) }
  })
  session.out.answer(
    { config, origins: Object.fromEntries(rows.map((row) => [row.path, row.source])) },
    () =>
      rows.length === 0
        ? 'Nothing is configured. Run: busbar import   or: busbar add NAME -- COMMAND'
        : session.out.table(
            ['VALUE', 'IS', 'FROM'],
            rows.map((row) => [row.path, JSON.stringify(row.value) ?? '', row.source]),
          ),
  )
  failOnErrors(snapshot)
}

async function check(session: Session): Promise<void> {
  const { snapshot } = await session.load()
  const errors = errorsOf(snapshot)
  const warnings = [
    ...snapshot.problems.filter((it) => it.severity === 'warning'),
    ...missingWarnings(snapshot),
  ]
  const files = snapshot.looked.filter((it) => it.state !== 'absent').map((it) => it.file)
  session.out.answer({ ok: errors.length === 0, files, errors, problems: [...errors, ...warnings] }, () =>
    errors.length === 0
      ? `${files.length === 0 ? 'No configuration files.' : `${files.map(nearPath).join(', ')}: no errors.`} ${snapshot.servers.size} servers, ${Object.keys(snapshot.config.agents).length} agents.`
      : '',
  )
  if (errors.length > 0) throw configFault(errors)
}
