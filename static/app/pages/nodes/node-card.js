// One node: its state, a bar for its share of the instances, its version and since when it runs.

import { formatNumber } from '../../lib/format.js'
import { html } from '../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../lib/languages.js'
import { Ago } from '../../parts/ago.js'
import { texts } from './texts.js'

/** @typedef {import('./use-nodes.js').NodeRow} NodeRow */

/** @type {Record<NodeRow['state'], { kind: string, sign: string }>} */
const looks = {
  active: { kind: 'good', sign: '✓' },
  draining: { kind: 'warn', sign: '↻' },
  dead: { kind: 'bad', sign: '✕' },
}

/** @param {{ node: NodeRow }} props */
export function NodeCard({ node }) {
  const t = useTexts(texts)
  const { name, state, build, capacity, joined_at: joinedAt } = node
  const { is_cell: isCell, is_self: isSelf, settings_differ: isDiffering } = node
  const { kind, sign } = looks[state]
  return html`<article class="card node">
    <h2>${name}</h2>
    <p>
      <span class=${`badge ${kind}`}><span aria-hidden="true">${sign}</span>${t[state]}</span>
      ${isSelf && html`${' '}<span class="soft">${t.self}</span>`}
    </p>
    <${Share} node=${node} />
    ${isDiffering && html`<p class="warn"><span aria-hidden="true">!</span> ${t.settingsDiffer}</p>`}
    <dl class="facts">
      <div>
        <dt>${t.build}</dt>
        <dd>${build}</dd>
      </div>
      <div>
        <dt>${t.capacity}</dt>
        <dd>${isCell ? t.cell : capacity}</dd>
      </div>
      <div>
        <dt>${t.since}</dt>
        <dd><${Ago} at=${joinedAt} /></dd>
      </div>
    </dl>
  </article>`
}

/** @param {{ node: NodeRow }} props */
function Share({ node: { name, held, share } }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const percent = formatNumber(language, share, { style: 'percent', maximumFractionDigits: 1 })
  const words = fill(t.held, { held: formatNumber(language, held), share: percent })
  return html`<div
      class="share"
      role="meter"
      aria-label=${fill(t.share, { name })}
      aria-valuemin="0"
      aria-valuemax="1"
      aria-valuenow=${share}
      aria-valuetext=${words}
    >
      <svg width="100%" height="12" aria-hidden="true"><rect width=${`${share * 100}%`} height="100%" /></svg>
    </div>
    <p>${words}</p>`
}
