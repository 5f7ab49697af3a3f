// Usage by month: a chart, a table and a file for spreadsheets.

import { html } from '../../lib/html.js'
import { fill, useTexts } from '../../lib/languages.js'
import { monthBefore, monthOf } from '../../lib/months.js'
import { useReload } from '../../lib/use-reload.js'
import { Field, valueOf } from '../../parts/field.js'
import { Loaded } from '../../parts/loaded.js'
import { useState } from '../../vendor/hooks.js'
import { texts } from './texts.js'
import { UsageReport } from './usage-report.js'

/** @typedef {import('./usage-report.js').Usage} Usage */

const ranges = [3, 6, 12, 24]

export function Page() {
  const t = useTexts(texts)
  const [count, setCount] = useState(6)
  const [tag, setTag] = useState(/** @type {string | null} */ (null))
  const to = monthOf(Date.now())
  const loaded = useReload(`usage/summary?from=${monthBefore(to, count - 1)}&to=${to}`)
  return html`
    <h1>${t.title}</h1>
    <p class="soft">${t.hint}</p>
    <div class="filter">
      <${Field} label=${t.range}>
        ${(/** @type {object} */ attributes) =>
          html`<select
            ...${attributes}
            value=${count}
            onChange=${(/** @type {Event} */ event) => setCount(Number(valueOf(event)))}
          >
            ${ranges.map((each) => html`<option key=${each} value=${each}>${fill(t.months, { count: each })}</option>`)}
          </select>`}
      <//>
      ${loaded.data && html`<${TagChoice} usage=${loaded.data} tag=${tag} onChoose=${setTag} />`}
    </div>
    <${Loaded} from=${loaded}>
      ${(/** @type {Usage} */ usage) => html`<${UsageReport} usage=${usage} tag=${tag} />`}
    <//>
  `
}

/**
 * The values of the list are numbers: an owner tag may look like any word that stands for all.
 * @param {{ usage: Usage, tag: string | null, onChoose: (tag: string | null) => void }} props null: all owner tags
 */
function TagChoice({ usage, tag, onChoose }) {
  const t = useTexts(texts)
  const tags = [...new Set([...usage.rows.map(({ owner_tag: each }) => each), ...(tag === null ? [] : [tag])])].sort()
  return html`<${Field} label=${t.ownerTag}>
    ${(/** @type {object} */ attributes) =>
      html`<select
        ...${attributes}
        value=${tag === null ? -1 : tags.indexOf(tag)}
        onChange=${(/** @type {Event} */ event) => onChoose(tags[Number(valueOf(event))] ?? null)}
      >
        <option value="-1">${t.allTags}</option>
        ${tags.map((each, index) => html`<option key=${each} value=${index}>${each || t.noTag}</option>`)}
      </select>`}
  <//>`
}
