// The tenants, and the form for a new one.

import { html } from '../../../lib/html.js'
import { useTexts } from '../../../lib/languages.js'
import { useState } from '../../../vendor/hooks.js'
import { TenantCard } from './tenant-card.js'
import { TenantForm } from './tenant-form.js'
import { texts } from './texts.js'

/** @typedef {import('./tenant-card.js').Tenant} Tenant */

/** @param {{ tenants: readonly Tenant[], onChange: () => void }} props */
export function TenantList({ tenants, onChange }) {
  const t = useTexts(texts)
  const [isAdding, setAdding] = useState(false)
  /** The tenant that was created on this page: its access is tested at once. */
  const [created, setCreated] = useState('')
  const save = (/** @type {string} */ tag) => {
    setAdding(false)
    setCreated(tag)
    onChange()
  }
  return html`
    ${tenants.length === 0 && html`<p>${t.none}</p>`}
    <ul class="cards wider">
      ${tenants.map(
        (tenant) =>
          html`<li key=${tenant.owner_tag}>
            <${TenantCard} tenant=${tenant} isNew=${tenant.owner_tag === created} onChange=${onChange} />
          </li>`,
      )}
    </ul>
    <div class="actions">
      ${!isAdding && html`<button type="button" onClick=${() => setAdding(true)}>${t.add}</button>`}
    </div>
    ${
      isAdding &&
      html`<div class="card wizard">
        <h3>${t.add}</h3>
        <${TenantForm}
          tenant=${null}
          tags=${tenants.map(({ owner_tag: tag }) => tag)}
          onSaved=${save}
          onCancel=${() => setAdding(false)}
        />
      </div>`
    }
  `
}
