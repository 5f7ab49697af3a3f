// docs/outbox.md, from the table of transitions in src/core/outbox.ts.

import { format } from 'prettier'
import { outboxTransitions, transitionOf } from '../src/core/outbox.ts'
import type { OutboxTransition } from '../src/core/outbox.ts'

type Edge = { from: string; to: string; label: string }

const outside = '[*]'
const names = Object.keys(outboxTransitions) as OutboxTransition[]

const intro = [
  '# States of an outbox row',
  'Generated from `src/core/outbox.ts` by `npm run generate`.',
  'A row of the outbox is one accepted message. Its `status` says whether the message is sent. Its `shown` says what the ' +
    'helpdesk showed of the message when we last knew; [shown.md](shown.md) explains it. The stores build the conditions ' +
    'of their SQL from the same table, so a row changes its state only in the ways below. `prune` is the exception: its ' +
    'SQL asks only for `settled_at`, which exactly the rows in its states have.',
]

export function renderOutboxPage(): Promise<string> {
  const parts = [
    ...intro,
    '## Status',
    diagram(names.flatMap(statusEdges)),
    '## Transitions',
    'An empty From cell means any value. An empty To cell means that the value stays.',
    table(),
  ]
  return format(parts.join('\n\n'), { parser: 'markdown', printWidth: 120, proseWrap: 'always' })
}

function statusEdges(name: OutboxTransition): Edge[] {
  const { from, to } = transitionOf(name)
  if (to === 'same') return []
  const origins = from.length === 0 ? [outside] : from
  return origins.map((each) => ({ from: each, to: to === 'deleted' ? outside : to, label: name }))
}

/** One arrow per pair of states. */
function diagram(edges: readonly Edge[]): string {
  const labels = new Map<string, string[]>()
  for (const { from, to, label } of edges) {
    const arrow = `${from} --> ${to}`
    labels.set(arrow, [...(labels.get(arrow) ?? []), label])
  }
  const lines = [...labels].map(([arrow, all]) => `  ${arrow}: ${all.join(', ')}`)
  return ['```mermaid', 'stateDiagram-v2', ...lines, '```'].join('\n')
}

function table(): string {
  const rows = names.map((name) => {
    const { from, to, shown, who, meaning } = transitionOf(name)
    const statusFrom = from.length === 0 ? '(new row)' : from.join(', ')
    const cells = [statusFrom, to === 'same' ? '' : to, shown?.from?.join(', '), shown?.to.join(', '), who, meaning]
    return `| \`${name}\` | ${cells.map((cell) => cell ?? '').join(' | ')} |`
  })
  return [
    '| Transition | From status | To status | From shown | To shown | Who | Meaning |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}
