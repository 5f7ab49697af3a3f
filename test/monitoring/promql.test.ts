// The reader of PromQL and the search for unknown names find what is wrong. Otherwise the test of the dashboard proves nothing.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readExposition } from './harness/exposition.ts'
import { findUnknown } from './harness/find-unknown.ts'
import { readQuery } from './harness/promql.ts'

test('metrics, matchers and groupings are read', () => {
  const query =
    'histogram_quantile(0.95, sum by (le, kind) (rate(post_seconds_bucket{job="a b", kind!~"x|y"}[5m]))) > 1 or vector(0)'
  assert.deepEqual(readQuery(query), {
    selectors: [
      {
        metric: 'post_seconds_bucket',
        matchers: [
          { label: 'job', value: 'a b' },
          { label: 'kind', value: 'x|y' },
        ],
      },
    ],
    groupings: ['le', 'kind'],
  })
})

test('both sides of an operator are read, with grouping before and after the parentheses', () => {
  const { selectors, groupings } = readQuery('sum(a) by (x) / on (y) group_left (z) sum by (w) (b offset 5m) and c{}')
  assert.deepEqual(
    selectors.map(({ metric }) => metric),
    ['a', 'b', 'c'],
  )
  assert.deepEqual(groupings, ['x', 'y', 'z', 'w'])
})

for (const wrong of [
  'rat(a[5m])',
  '{job="a"}',
  'a{job}',
  'a{job="a" kind="b"}',
  'sum by (a b) (c)',
  'a{job>"x"}',
  'sum',
]) {
  test(`${wrong} is refused`, () => {
    assert.throws(() => readQuery(wrong))
  })
}

describe('what the service does not have is found', () => {
  const scraped = readExposition(
    [
      '# TYPE waiting gauge',
      'waiting{instance="a",owner_tag=""} 3',
      '# TYPE post_seconds histogram',
      'post_seconds_bucket{le="0.1"} 1',
      'post_seconds_sum 1',
      'post_seconds_count 1',
      '# TYPE empty gauge',
    ].join('\n'),
  )
  const unknown = (expression: string, ...texts: string[]) => findUnknown({ where: 'x', expression, texts }, scraped)

  test('a metric, also one without a series', () => {
    assert.deepEqual(unknown('wating > 0'), ['x: no series wating'])
    assert.deepEqual(unknown('empty > 0'), ['x: no series empty'])
    assert.deepEqual(unknown('rate(post_seconds[5m])'), ['x: no series post_seconds'])
    assert.deepEqual(unknown('rate(post_seconds_count[5m])'), [])
  })

  test('a label of a matcher, of a grouping or of a text', () => {
    assert.deepEqual(unknown('waiting{instanc="a"}'), ['x: waiting has no instanc'])
    assert.deepEqual(unknown('sum by (le) (waiting)'), ['x: no label le'])
    assert.deepEqual(unknown('sum by (le) (post_seconds_bucket)', '{{le}}'), [])
    assert.deepEqual(unknown('waiting', 'at {{ $labels.name }} for {{ $value | humanizeDuration }}'), [
      'x: no label name',
    ])
    assert.deepEqual(unknown('waiting{job="a"}', '{{ $labels.target }}'), [])
  })

  test('a label that a sum has left out', () => {
    assert.deepEqual(unknown('sum by (owner_tag) (waiting)', '{{instance}}'), ['x: instance is lost'])
  })
})
