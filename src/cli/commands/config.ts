// `busbar config path|show|check|schema`.

import { errorsOf } from '../../config/load.ts'
import { pathText } from '../../config/problem.ts'
import { homeOf } from '../../config/sources.ts'
import { missingWarnings } from '../../config/status.ts'
import { leaves, plain } from '../../config/tree.ts'
import { maskSecrets } from '../../config/view.ts'
import type { Define } from '../commands.ts'
import { nearPath, placeText } from '../describe.ts'
import { safe } from '../output.ts'
import { configFault, failOnErrors, type Session } from '../session.ts'

export const define: Define = (command, session) => {
  command
    .command('path')
    .description('Where configuration is looked for, lowest layer first, and where it would be written.')
    .addHelpText('after', '\nExample:\n  busbar config path')
    .action(async () => await path(session()))
  command
    .command('show')
    .description('The merged configuration with the file and line of each value. Secrets are masked.')
    .addHelpText('after', '\nExamples:\n  busbar config show\n  busbar config show --json')
    .action(async () => await show(session()))
  command
    .command('check')
    .description('Report every problem at once; exit 1 when there is an error.')
    .option('--watch', 'check again whenever a file changes, until Ctrl-C')
    .addHelpText('after', '\nExamples:\n  busbar config check\n  busbar config check --config team.yaml --json\n  busbar config check --watch')
    .action(async (options: { watch?: boolean }) => {
      if (options.watch) {
        const { watchCheck } = await import('../watch-check.ts')
        await watchCheck(session())
      } else await check(session())
    })
  command
    .command('schema')
    .description('The JSON Schema of the native format, for editors.')
    .addHelpText('after', '\nExample:\n  busbar config schema > busbar.schema.json')
    .action(async () => {
      const { jsonSchema } = await import('../../config/schema.ts')
      process.stdout.write(`${JSON.stringify(jsonSchema(), null, 2)}\n`)
      session()
    })
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
  session.out.answer({ config, origins: Object.fromEntries(rows.map((row) => [row.path, row.source])) }, () =>
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
  const warnings = [...snapshot.problems.filter((it) => it.severity === 'warning'), ...missingWarnings(snapshot)]
  const files = snapshot.looked.filter((it) => it.state !== 'absent').map((it) => it.file)
  session.out.answer({ ok: errors.length === 0, files, errors, problems: [...errors, ...warnings] }, () =>
    errors.length === 0
      ? `${files.length === 0 ? 'No configuration files.' : `${files.map(nearPath).join(', ')}: no errors.`} ${snapshot.servers.size} servers, ${Object.keys(snapshot.config.agents).length} agents.`
      : '',
  )
  if (errors.length > 0) throw configFault(errors)
}
