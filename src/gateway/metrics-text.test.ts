// The text format of Prometheus.

import { expect, test } from 'vitest'
import { metricsText } from './metrics-text.ts'

test('a family has its help, its type and a line for each sample', () => {
  const text = metricsText([
    {
      name: 'a_total',
      help: 'Of a\nand \\ b.',
      type: 'counter',
      samples: [{ value: 1 }, { labels: { x: '1', y: '2' }, value: 0.5 }],
    },
    { name: 'b', help: 'None.', type: 'gauge', samples: [] },
  ])
  expect(text).toBe(
    '# HELP a_total Of a\\nand \\\\ b.\n# TYPE a_total counter\na_total 1\na_total{x="1",y="2"} 0.5\n' +
      '# HELP b None.\n# TYPE b gauge\n',
  )
})

test('no value of a label ends it, or its line', () => {
  const sample = { suffix: '_bucket', labels: { server: 'a"} 1\nb\\' }, value: Number.POSITIVE_INFINITY }
  const [, , line] = metricsText([{ name: 'h', help: '', type: 'histogram', samples: [sample] }]).split('\n')
  expect(line).toBe('h_bucket{server="a\\"} 1\\nb\\\\"} +Inf')
})
