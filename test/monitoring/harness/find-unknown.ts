// Finds what a query names and the service does not have.

import type { Exposition } from './exposition.ts'
import type { Query } from './monitoring-files.ts'
import { readQuery } from './promql.ts'

/** Prometheus itself adds them: `target` by the relabelling in prometheus.yml. */
const targetLabels = ['job', 'target']
/** The series that Prometheus itself writes for each target. */
const ownSeries = ['up']

export function findUnknown({ where, expression, texts }: Query, { labels }: Exposition): string[] {
  const { selectors, groupings } = readQuery(expression)
  const unknown: string[] = []
  const seen = new Set(targetLabels)
  for (const { metric, matchers } of selectors) {
    const own = ownSeries.includes(metric) ? new Set<string>() : labels.get(metric)
    if (!own) unknown.push(`${where}: no series ${metric}`)
    for (const label of own ?? []) seen.add(label)
    for (const { label } of matchers) {
      if (own && !own.has(label) && !targetLabels.includes(label)) unknown.push(`${where}: ${metric} has no ${label}`)
    }
  }
  const shown = texts.flatMap(labelsIn)
  for (const label of [...groupings, ...shown]) if (!seen.has(label)) unknown.push(`${where}: no label ${label}`)
  // What a sum leaves out cannot be shown.
  if (groupings.length === 0) return unknown
  return [
    ...unknown,
    ...shown.filter((label) => !groupings.includes(label)).map((label) => `${where}: ${label} is lost`),
  ]
}

function labelsIn(text: string): string[] {
  return [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*(?:\|.*?)?\}\}/g)].map(([, label = '']) => label)
}
