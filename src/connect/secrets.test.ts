import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { placesOf } from '../base/places.ts'
import { MASK, scrubber } from '../base/redact.ts'
import { loadConfig } from '../config/load.ts'
import { openSecrets } from '../secrets/secrets.ts'
import { allSecrets } from './secrets.ts'

test('[C11] what came from the kept secrets is taken out of texts in every form, wherever it was filled in', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'busbar-scrub-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const env = { HOME: folder, BUSBAR_HOME: folder, BUSBAR_PASSPHRASE: 'a passphrase of mine' }
  const secrets = await openSecrets(placesOf(env), env)
  const places = ['ENV', 'HEADER', 'URL', 'ARGUMENT', 'COMMAND', 'FOLDER', 'KEY', 'TOKEN', 'DEFAULT']
  const value = (name: string) => `the "${name}"/value é+`
  for (const name of places) await secrets.put('secret', name, value(name))
  const active = await loadConfig({
    cwd: folder,
    env,
    data: {
      servers: {
        local: {
          command: '${secret:COMMAND}',
          args: ['run', '${secret:ARGUMENT}'],
          cwd: '${secret:FOLDER}',
          env: { PLAIN: 'x ${secret:ENV}', OTHER: '${NONE:-${secret:DEFAULT}}' },
        },
        remote: {
          url: 'https://example.com/${secret:URL}',
          headers: { 'X-Plain': '${secret:HEADER}' },
          auth: { type: 'api_key', apiKey: '${secret:KEY}' },
        },
      },
      agents: { ada: { token: '${secret:TOKEN}' } },
    },
  })
  const scrub = scrubber(allSecrets(active))
  for (const name of places) {
    const secret = value(name)
    for (const form of [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('base64url'),
    ])
      expect(scrub(`before ${form} after`)).toBe(`before ${MASK} after`)
  }
  expect(scrub('a passphrase of mine')).toBe(MASK)
})
