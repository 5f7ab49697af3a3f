// Whether the older messages of the phone are imported when the account is linked.

import { html } from '../../../lib/html.js'
import { fill, useTexts } from '../../../lib/languages.js'
import { Field, valueOf } from '../../../parts/field.js'
import { mostHistoryDays } from './history-days.js'
import { texts } from './texts.js'

/** @typedef {import('../../../parts/field.js').FieldAttributes} FieldAttributes */
/** @typedef {import('./use-draft.js').Settings['history']} History */

/** @param {{ history: History, change: import('./use-draft.js').Change }} props */
export function HistoryFields({ history: { enabled, days }, change }) {
  const t = useTexts(texts)
  return html`<label class="choice">
      <input type="checkbox" checked=${enabled} onChange=${() => change('history', { enabled: !enabled, days })} />
      <span>${t.history}<span class="hint">${t.historyHint}</span></span>
    </label>
    <${Field} label=${t.historyDays} hint=${fill(t.historyDaysHint, { most: mostHistoryDays })}>
      ${(/** @type {FieldAttributes} */ attributes) =>
        html`<input
          ...${attributes}
          type="number"
          min="1"
          max=${mostHistoryDays}
          required
          value=${days}
          onInput=${(/** @type {Event} */ event) => change('history', { enabled, days: Number(valueOf(event)) })}
        />`}
    <//>`
}
