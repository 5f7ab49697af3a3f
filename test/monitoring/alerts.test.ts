// The alerts: each has a paragraph in the documents, and Prometheus' own tool accepts and tests the rules.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { alertsFile, readAlertRules } from './harness/monitoring-files.ts'

const testsFile = 'test/monitoring/alerts.promtool.yml'
const names = readAlertRules().map(({ name }) => name)
const document = readFileSync('docs/alerts.md', 'utf8')
/** Each heading with its text. */
const paragraphs = new Map(
  document
    .split(/^## /m)
    .slice(1)
    .map((part) => [part.slice(0, part.indexOf('\n')), part] as const),
)

test('every alert has a paragraph in docs/alerts.md, and every paragraph an alert', () => {
  assert.deepEqual([...paragraphs.keys()].sort(), [...names].sort())
})

test('every paragraph says what the alert means, what to look at and what to do', () => {
  for (const [name, text] of paragraphs) {
    for (const part of ['**Means:**', '**Look at:**', '**Do:**'])
      assert.ok(text.includes(part), `${name} has no ${part}`)
  }
})

test('the runbook of every alert is its paragraph', () => {
  for (const { name, runbook } of readAlertRules()) assert.equal(runbook, `docs/alerts.md#${name.toLowerCase()}`)
})

test('every alert is critical or a warning', () => {
  const odd = readAlertRules().filter(({ severity }) => !['critical', 'warning'].includes(severity))
  assert.deepEqual(odd, [])
})

test('every link between the paragraphs leads to one of them', () => {
  const links = [...document.matchAll(/\]\(#([\w-]+)\)/g)].map(([, heading]) => heading)
  const known = names.map((name) => name.toLowerCase())
  assert.deepEqual(
    links.filter((heading) => heading === undefined || !known.includes(heading)),
    [],
  )
})

test('every link into operations.md leads to a heading', () => {
  const headings = [...readFileSync('docs/operations.md', 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
  const links = [document, readFileSync('docs/metrics.md', 'utf8')].flatMap((text) => [
    ...text.matchAll(/operations\.md#([\w-]+)/g),
  ])
  const dead = links.filter(([, heading = '']) => !headings.includes(heading))
  assert.deepEqual(
    dead.map(([link]) => link),
    [],
  )
})

test('every alert has a test in which it fires and one in which it stays quiet', () => {
  // After a comma the name says in which situation.
  const cases = [...readFileSync(testsFile, 'utf8').matchAll(/^ {2}- name: ([^,\n]+)/gm)].map(([, name]) => name)
  assert.deepEqual([...new Set(cases)].sort(), names.flatMap((name) => [`${name} fires`, `${name} stays quiet`]).sort())
})

const hasTool = spawnSync('promtool', ['--version']).status === 0
const skip = hasTool ? false : 'promtool is not installed: it is in the Debian package prometheus'

test('promtool accepts the rules and the scrape', { skip }, () => {
  execFileSync('promtool', ['check', 'rules', alertsFile])
  execFileSync('promtool', ['check', 'config', '--syntax-only', 'deploy/prometheus/prometheus.yml'])
})

test('promtool: each alert fires in its time, and not without a reason', { skip }, () => {
  execFileSync('promtool', ['test', 'rules', testsFile])
})
