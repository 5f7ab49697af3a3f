// Reads the dashboard of Grafana and the alert rules of Prometheus.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

/** A query with the texts that name its labels: `{{instance}}`, `{{ $labels.instance }}`. */
export type Query = { where: string; expression: string; texts: string[] }
export type AlertRule = Query & { name: string; runbook: string; severity: string }

type Panel = {
  title: string
  type: string
  targets?: { expr: string; legendFormat: string }[]
  panels?: Panel[]
  /** `noValue` is what the panel shows when the query finds nothing. */
  fieldConfig?: { defaults: { noValue?: string } }
}
type Variable = { name: string; type: string; query: string | { query: string } }
export type Dashboard = {
  schemaVersion: number
  panels: (Panel & { datasource?: { uid: string } })[]
  templating: { list: Variable[] }
}

export const alertsFile = 'deploy/prometheus/alerts.yml'

export function readDashboard(): Dashboard {
  return JSON.parse(readFileSync('deploy/grafana/causeway.json', 'utf8')) as Dashboard
}

export function queriesOf({ panels, templating }: Dashboard): Query[] {
  return [...panels.flatMap(queriesOfPanel), ...templating.list.flatMap(queryOfVariable)]
}

export function queriesOfPanel({ title, targets = [] }: Panel): Query[] {
  return targets.map(({ expr, legendFormat }) => ({
    where: `panel "${title}"`,
    expression: withoutVariables(expr),
    texts: [legendFormat],
  }))
}

/** `label_values(metric, label)` is of Grafana. It is the same as the labels of a sum. */
function queryOfVariable({ name, type, query }: Variable): Query[] {
  if (type !== 'query') return []
  const text = typeof query === 'string' ? query : query.query
  const [, selector, label] = /^label_values\((.+), (\w+)\)$/.exec(text) ?? []
  assert.ok(selector !== undefined && label !== undefined, `the variable ${name} is no label_values(metric, label)`)
  return [{ where: `variable ${name}`, expression: `sum by (${label}) (${selector})`, texts: [] }]
}

function withoutVariables(expression: string): string {
  return expression.replaceAll('$__rate_interval', '5m')
}

/** The file has one form for every rule. A line that this reader does not know is an error. */
export function readAlertRules(): AlertRule[] {
  const [, ...blocks] = readFileSync(alertsFile, 'utf8').split(/^ {6}- alert: /m)
  return blocks.map((block) => {
    const [name = '', ...lines] = block.trim().split('\n')
    const fields = new Map(lines.map((line) => readField(name, line)))
    const field = (key: string) => fields.get(key) ?? assert.fail(`${name} has no ${key}`)
    const rule = { where: `alert ${name}`, name, severity: field('severity'), runbook: field('runbook_url') }
    return { ...rule, expression: field('expr'), texts: [field('summary')] }
  })
}

function readField(rule: string, line: string): [string, string] {
  const [, key, value] = /^ {8,10}(\w+):(?: (.+))?$/.exec(line) ?? []
  assert.ok(key !== undefined, `${rule}: ${line}`)
  return [key, (value ?? '').replace(/^'(.*)'$/, '$1')]
}
