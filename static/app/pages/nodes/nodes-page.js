// The nodes of the service: who holds how much, what no node opens, and what moved last.

import { formatNumber } from '../../lib/format.js'
import { html } from '../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../lib/languages.js'
import { Ago } from '../../parts/ago.js'
import { DataTable } from '../../parts/data-table.js'
import { Loaded } from '../../parts/loaded.js'
import { Section } from '../../parts/section.js'
import { NodeCard } from './node-card.js'
import { Quarantine } from './quarantine.js'
import { texts } from './texts.js'
import { useNodes } from './use-nodes.js'

/** @typedef {import('./use-nodes.js').Nodes} Nodes */
/** @typedef {import('./use-nodes.js').Move} Move */

export function Page() {
  const t = useTexts(texts)
  const loaded = useNodes()
  return html`
    <h1>${t.title}</h1>
    <p class="soft">${t.hint}</p>
    <${Loaded} from=${loaded}>
      ${(/** @type {Nodes} */ { nodes, totals, moves }) => html`
        <${Totals} count=${nodes.length} totals=${totals} />
        <${Quarantine} names=${totals.quarantined} onChange=${loaded.reload} />
        <ul class="cards wider">
          ${nodes.map((node) => html`<li key=${node.id}><${NodeCard} node=${node} /></li>`)}
        </ul>
        <${Moves} moves=${moves} />
      `}
    <//>
  `
}

/** @param {{ count: number, totals: Nodes['totals'] }} props */
function Totals({ count, totals: { instances, free } }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const write = (/** @type {number} */ value) => formatNumber(language, value)
  const facts = { nodes: write(count), instances: write(instances), free: write(free) }
  return html`<p role="status">${count === 1 && free === 0 ? t.alone : fill(t.totals, facts)}</p>`
}

/** @param {{ moves: readonly Move[] }} props */
function Moves({ moves }) {
  const t = useTexts(texts)
  /** @type {import('../../parts/data-table.js').Column<Move>[]} */
  const columns = [
    {
      head: t.instance,
      cell: ({ instance }) => html`<a href=${`#/instances/${encodeURIComponent(instance)}`}>${instance}</a>`,
    },
    { head: t.from, cell: ({ from }) => from ?? t.noNode },
    { head: t.to, cell: ({ to }) => to ?? t.noNode },
    { head: t.reason, cell: ({ reason }) => t[reason] },
    { head: t.at, cell: ({ at }) => html`<${Ago} at=${at} />` },
  ]
  return html`<${Section} title=${t.moves} wide>
    <${DataTable}
      caption=${t.moves}
      empty=${t.noMove}
      columns=${columns}
      rows=${moves}
      keyOf=${(/** @type {Move} */ { instance, from, to, at }) => [instance, from, to, at].join(' ')}
    />
  <//>`
}
