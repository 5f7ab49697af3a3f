// The audit log of all instances, with filters.

import { html } from '../../lib/html.js'
import { fill, useTexts } from '../../lib/languages.js'
import { useReload } from '../../lib/use-reload.js'
import { AuditTable } from '../../parts/audit/audit-table.js'
import { Field, valueOf } from '../../parts/field.js'
import { Loaded } from '../../parts/loaded.js'
import { Section } from '../../parts/section.js'
import { useState } from '../../vendor/hooks.js'
import { texts } from './texts.js'

/** @typedef {import('../../parts/audit/audit-table.js').AuditEntry} AuditEntry */

const limits = [50, 200, 500]

export function AuditLog() {
  const t = useTexts(texts)
  const [query, setQuery] = useState(`limit=${limits[0]}`)
  /** Each press of the button loads, also with the same filters. */
  const [asked, setAsked] = useState(0)
  const loaded = useReload(`audit?${query}`, asked, 0)
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget))
    const wanted = [...form].map(([name, value]) => [name, String(value).trim()]).filter(([, value]) => value !== '')
    setQuery(new URLSearchParams(wanted).toString())
    setAsked(asked + 1)
  }
  return html`<${Section} title=${t.audit} wide>
    <p class="soft">${t.auditHint}</p>
    <form class="filter" onSubmit=${submit}>
      <${Filter} name="instance" label=${t.instance} />
      <${Filter} name="owner_tag" label=${t.ownerTag} />
      <${Field} label=${t.most}>
        ${(/** @type {object} */ attributes) =>
          html`<select ...${attributes} name="limit">
            ${limits.map((each) => html`<option key=${each} value=${each}>${fill(t.entries, { count: each })}</option>`)}
          </select>`}
      <//>
      <button type="submit">${t.show}</button>
    </form>
    <${Loaded} from=${loaded}>
      ${(/** @type {{ entries: AuditEntry[] }} */ { entries }) => html`<${Entries} entries=${entries} />`}
    <//>
  <//>`
}

/** @param {{ name: string, label: string }} props */
function Filter({ name, label }) {
  return html`<${Field} label=${label}>
    ${(/** @type {object} */ attributes) => html`<input ...${attributes} name=${name} maxlength="128" autocomplete="off" />`}
  <//>`
}

/** The entries, also of one action only. @param {{ entries: readonly AuditEntry[] }} props */
function Entries({ entries }) {
  const t = useTexts(texts)
  const [chosen, setChosen] = useState('')
  const actions = [...new Set(entries.map(({ action }) => action))].sort()
  const isListed = actions.includes(chosen)
  return html`
    <div class="filter">
      <${Field} label=${t.action}>
        ${(/** @type {object} */ attributes) =>
          html`<select
            ...${attributes}
            value=${isListed ? chosen : ''}
            onChange=${(/** @type {Event} */ event) => setChosen(valueOf(event))}
          >
            <option value="">${t.allActions}</option>
            ${actions.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}
          </select>`}
      <//>
    </div>
    <div aria-live="polite">
      <${AuditTable} entries=${entries.filter(({ action }) => !isListed || action === chosen)} withInstance />
    </div>
  `
}
