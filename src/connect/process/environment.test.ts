import { expect, test } from 'vitest'
import { childEnvironment } from './environment.ts'
import { allOf, stage } from './staging.ts'

test('only names that are no secrets pass, and the entry and the mark win', () => {
  const own = {
    HOME: '/home/ada',
    PATH: '/bin',
    LC_TIME: 'C',
    XDG_CACHE_HOME: '/cache',
    ANTHROPIC_API_KEY: 'secret',
    SSH_AUTH_SOCK: '/agent',
    NODE_OPTIONS: '--require=/tmp/x.js',
    BUSBAR_TOKEN: 'secret',
    BUSBAR_MARK: 'of another',
    TERM: undefined,
  }
  expect(childEnvironment(own, { PATH: '/own', TOKEN: 'x', BUSBAR_MARK: 'forged' }, 'mark')).toEqual({
    HOME: '/home/ada',
    PATH: '/own',
    LC_TIME: 'C',
    XDG_CACHE_HOME: '/cache',
    TOKEN: 'x',
    BUSBAR_MARK: 'mark',
  })
})

test('a proxy passes, its password does not, and neither does an exported shell function', () => {
  const own = {
    HTTPS_PROXY: 'http://proxy:8080',
    no_proxy: 'localhost',
    http_proxy: 'http://ada:secret@proxy:8080',
    LC_ALL: '() { :;}; echo vulnerable',
  }
  expect(childEnvironment(own, {}, 'mark')).toEqual({
    HTTPS_PROXY: 'http://proxy:8080',
    no_proxy: 'localhost',
    BUSBAR_MARK: 'mark',
  })
})

test('the process has that environment and nothing else', async (scope) => {
  const staged = await stage(scope, 'env', [], { env: { TOKEN: 'x' } })
  const names = (await allOf(staged)).trim().split('\n')
  expect(names).toContain('TOKEN=x')
  expect(names).toContain(`BUSBAR_MARK=${staged.marker}`)
  const passing = /^(?:HOME|LOGNAME|PATH|SHELL|TERM|TMPDIR|USER|LANG|LANGUAGE|TZ|LC_\w+|XDG_\w+|\w+_proxy)=/i
  const authorities = /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_\w+)=/
  const others = names.filter((name) => !passing.test(name) && !authorities.test(name))
  expect(others.sort()).toEqual([`BUSBAR_MARK=${staged.marker}`, 'TOKEN=x'])
})
