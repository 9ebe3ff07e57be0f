import { expect, test } from 'vitest'
import { maskedDiff } from './diff.ts'

const shown = (before: string, after: string, values: unknown[] = []) =>
  maskedDiff(before, after, values).map(({ text }) => text)

test('a difference is one stretch with three lines around it', () => {
  const lines = Array.from({ length: 9 }, (_, index) => `line ${index}`)
  const before = `${lines.join('\n')}\n`
  expect(shown(before, before)).toEqual([])
  expect(shown(before, before.replace('line 4', 'new\nline four'))).toEqual([
    '@@ -2,7 +2,8 @@',
    ' line 1',
    ' line 2',
    ' line 3',
    '-line 4',
    '+new',
    '+line four',
    ' line 5',
    ' line 6',
    ' line 7',
  ])
  expect(shown('', 'a\n')).toEqual(['@@ -0,0 +1,1 @@', '+a'])
  expect(shown('a\n', '')).toEqual(['@@ -1,1 +0,0 @@', '-a'])
  expect(shown('a', 'a\n')).toEqual(['@@ -1,2 +1,1 @@', ' a', '-\\ No newline at end of file'])
})

test('[C11] secrets of whoever are masked: in data, in one long line, in comments', () => {
  const data = {
    mcpServers: {
      other: { args: ['--api-key', 'hunter2secret'], env: { LINEAR: 'plain-looking-word' } },
      more: { headers: { 'X-Other': 'value-of-header' }, url: 'https://ada:geheim@example.com/mcp' },
    },
  }
  const before = `// "API_TOKEN": "old-and-forgotten"\n${JSON.stringify(data)}\n`
  const text = shown(before, before.replace('}}}', '},"busbar":{}}'), [data]).join('\n')
  for (const secret of [
    'hunter2secret',
    'plain-looking-word',
    'value-of-header',
    'geheim',
    'old-and-forgotten',
  ])
    expect(text).not.toContain(secret)
  expect(text).toContain('"busbar"')
})
