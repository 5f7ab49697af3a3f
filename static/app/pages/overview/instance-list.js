// All instances as cards. Many instances get a filter by name and state.

import { formatNumber } from '../../lib/format.js'
import { html } from '../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../lib/languages.js'
import { states } from '../../parts/state-badge.js'
import { texts as stateTexts } from '../../parts/texts.js'
import { useEffect, useState } from '../../vendor/hooks.js'
import { InstanceCard } from './instance-card.js'
import { texts } from './texts.js'

/** @typedef {import('./row-store.js').RowStore} RowStore */
/** @typedef {{ name: string, state: string }} Filter */

/** With more instances, the list has a filter. */
const fewInstances = 12

/** @type {Filter} */
const everything = { name: '', state: '' }

/** @param {{ store: RowStore }} props */
export function InstanceList({ store }) {
  const t = useTexts(texts)
  const [rows, setRows] = useState(store.list())
  const [filter, setFilter] = useState(everything)
  useEffect(() => {
    const follow = () => setRows(store.list())
    follow()
    return store.onList(follow)
  }, [store])
  if (rows.length === 0) return html`<p>${t.noInstance}</p>`
  const hasFilter = rows.length > fewInstances
  const shown = hasFilter ? rows.filter((row) => fits(row, filter)) : rows
  return html`
    ${hasFilter && html`<${FilterForm} ...${{ filter, setFilter, shown: shown.length, all: rows.length }} />`}
    <ul class="cards">
      ${shown.map(({ name }) => html`<${InstanceCard} key=${name} store=${store} name=${name} />`)}
    </ul>
  `
}

/** @param {import('./row-store.js').Row} row @param {Filter} filter */
function fits({ name, state }, filter) {
  return (
    name.toLowerCase().includes(filter.name.trim().toLowerCase()) && (filter.state === '' || state === filter.state)
  )
}

/** @param {{ filter: Filter, setFilter: (filter: Filter) => void, shown: number, all: number }} props */
function FilterForm({ filter, setFilter, shown, all }) {
  const t = useTexts(texts)
  const words = useTexts(stateTexts)
  const language = useLanguage()
  /** @param {keyof Filter} key */
  const change = (key) => (/** @type {Event} */ event) => {
    setFilter({ ...filter, [key]: /** @type {HTMLInputElement} */ (event.currentTarget).value })
  }
  return html`<form role="search" class="filter" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <label>${t.filterName}<input type="search" value=${filter.name} onInput=${change('name')} /></label>
    <label
      >${t.filterState}
      <select value=${filter.state} onChange=${change('state')}>
        <option value="">${t.allStates}</option>
        ${states.map((state) => html`<option key=${state} value=${state}>${words[state]}</option>`)}
      </select>
    </label>
    <p role="status" class="soft">
      ${fill(t.shown, { shown: formatNumber(language, shown), all: formatNumber(language, all) })}
    </p>
  </form>`
}
