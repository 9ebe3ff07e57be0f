import fc from 'fast-check'
import { expect, test } from 'vitest'
import { otherWords } from './search-synonyms.ts'
import { isEmptyWord, wordsOf } from './words.ts'

const cut: [string, string[]][] = [
  ['create_pull_request', ['creat', 'pull', 'request']],
  ['createPullRequest', ['creat', 'pull', 'request', 'createpullrequest']],
  ['HTTPServer', ['http', 'server', 'httpserver']],
  ['get-user.info/v2', ['get', 'user', 'info', 'v', '2']],
  ['s3Bucket', ['s', '3', 'bucket']],
  ['Zürich CAFÉ', ['zurich', 'caf']],
  ['天気予報', ['天気', '気予', '予報']],
  ['雨', ['雨']],
  ['поиск текста', ['поиск', 'текста']],
  ['🌦 \ud800 --- ', []],
  ['', []],
]
for (const [text, words] of cut)
  test(`the words of ${JSON.stringify(text)} are ${words.join(', ') || 'none'}`, () => {
    expect(wordsOf(text)).toEqual(words)
  })

const alike: string[][] = [
  ['create', 'creates', 'created', 'creating'],
  ['file', 'files'],
  ['query', 'queries', 'querying', 'queried'],
  ['branch', 'branches', 'branching'],
  ['run', 'runs', 'running'],
  ['stop', 'stopped', 'stopping'],
  ['list', 'lists', 'listing', 'listed'],
  ['delete', 'deleting', 'deleted', 'deletes', 'deletion', 'deletions'],
  ['deploy', 'deploying', 'deployment', 'deployments'],
  ['react', 'reaction', 'reactions'],
]
for (const words of alike)
  test(`${words.join(', ')} are one word`, () => {
    expect(new Set(words.flatMap(wordsOf)).size).toBe(1)
  })

test('short words and those that only look like forms stay apart', () => {
  const words = 'string status bus access ping option version comment payment document'
  expect(wordsOf(words)).toEqual(words.split(' '))
})

test('knows words that tell nothing, and other words for common ones', () => {
  expect(wordsOf('the').every(isEmptyWord)).toBe(true)
  expect(wordsOf('delete').some(isEmptyWord)).toBe(false)
  expect(otherWords('delet')).toContain('remov')
  expect(otherWords('show')).toEqual(expect.arrayContaining(['get', 'list']))
  expect(otherWords('constructor')).toEqual([])
})

test('cuts any text in time that goes with its length', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string()), (text) => {
      for (const word of wordsOf(text)) expect(word).not.toBe('')
    }),
  )
  expect(wordsOf('a'.repeat(1_000_000))).toHaveLength(1)
  expect(wordsOf('aB'.repeat(100_000)).length).toBeLessThan(200_001)
  expect(wordsOf('天'.repeat(1_000_000))).toHaveLength(999_999)
  expect(wordsOf('ing'.repeat(100_000))).toHaveLength(1)
})
