// Writes metrics in the text format of Prometheus. The text of 5,000 instances has some 100,000 lines, and any caller may ask
// for it, so the writing shares the event loop.

import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import { eventLoopShare } from '../lib/event-loop-share.ts'

type Metric = MetricObjectWithValues<MetricValue<string> & { metricName?: string }>

/** Takes about 2 ms. */
const linesAtOnce = 1000

export async function writeExposition(metrics: readonly Metric[]): Promise<string> {
  const texts: string[] = []
  let lines: string[] = []
  for (const { name, help, type, values } of metrics) {
    lines.push(`# HELP ${name} ${escapeText(help)}`, `# TYPE ${name} ${String(type)}`)
    for (const { metricName = name, labels, value } of values) {
      lines.push(`${metricName}${formatLabels(labels)} ${formatValue(value)}`)
      if (lines.length < linesAtOnce) continue
      texts.push(lines.join('\n'))
      lines = []
      await eventLoopShare.next()
    }
    lines.push('')
  }
  return [...texts, lines.join('\n')].join('\n')
}

function formatLabels(labels: MetricValue<string>['labels']): string {
  let text = ''
  for (const name in labels) text += `${text === '' ? '' : ','}${name}="${escapeLabel(String(labels[name]))}"`
  return text === '' ? '' : `{${text}}`
}

function formatValue(value: number): string {
  if (Number.isFinite(value)) return String(value)
  if (Number.isNaN(value)) return 'NaN'
  return value > 0 ? '+Inf' : '-Inf'
}

function escapeLabel(text: string): string {
  return escapeText(text).replaceAll('"', '\\"')
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
