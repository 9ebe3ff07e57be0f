import { expect, test } from 'vitest'
import { lastWord } from './last-word.ts'

const NODE = `file:///srv/t.mjs:1
throw new Error('API_KEY is not set')
      ^

Error: API_KEY is not set
    at file:///srv/t.mjs:1:7
    at ModuleJob.run (node:internal/modules/esm/module_job:343:25)

Node.js v20.20.2
`
const MISSING = `node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/srv/none.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15) {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2
`
const PYTHON = `Traceback (most recent call last):
  File "t.py", line 1, in <module>
    raise RuntimeError("API_KEY is not set")
RuntimeError: API_KEY is not set
`

test.each([
  ['an error that Node shows', NODE, 'Error: API_KEY is not set'],
  ['a program that is not there', MISSING, "Error: Cannot find module '/srv/none.js'"],
  ['an exception of Python', PYTHON, 'RuntimeError: API_KEY is not set'],
  [
    'an error with a code',
    'TypeError [ERR_X]: no\n    at a (b:1:2)\n\nNode.js v22.1.0\n',
    'TypeError [ERR_X]: no',
  ],
  [
    'an exception of Java',
    'Exception in thread "main" x\njava.lang.IllegalStateException: no\n\tat A.b(A.java:1)\n',
    'java.lang.IllegalStateException: no',
  ],
  ['nothing but words', 'starting\nusage: x FILE\n\n', 'usage: x FILE'],
  ['an error and then why it ended', 'Error: first\ngiving up\n', 'Error: first'],
  ['nothing but what Node writes last', '\nNode.js v20.20.2\n', 'Node.js v20.20.2'],
  ['nothing', ' \n', undefined],
])('[B13] %s is told by the line that says why', (_, stderr, expected) => {
  expect(lastWord(stderr)).toBe(expected)
})
