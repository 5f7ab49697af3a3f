// One tenant: its facts, a test of its access, and the buttons that change or delete it.

import { call, path } from '../../../lib/api.js'
import { html } from '../../../lib/html.js'
import { fill, useTexts } from '../../../lib/languages.js'
import { Failure, useAction } from '../../../parts/action-button.js'
import { Ago } from '../../../parts/ago.js'
import { AskName } from '../../../parts/ask-name.js'
import { useState } from '../../../vendor/hooks.js'
import { TestButton } from '../destinations/test-button.js'
import { TenantForm } from './tenant-form.js'
import { texts } from './texts.js'

/**
 * @typedef {{
 *   owner_tag: string, downstream_base_url: string, downstream_account_id: number, downstream_inbox_id: number,
 *   created_at: string, updated_at: string,
 * }} Tenant as the API shows it: secrets are never shown
 */

/** @param {{ tenant: Tenant, isNew: boolean, onChange: () => void }} props */
export function TenantCard({ tenant, isNew, onChange }) {
  const { owner_tag: tag } = tenant
  const [isChanging, setChanging] = useState(false)
  /** Counts the changes: each one is tested at once. */
  const [changes, setChanges] = useState(0)
  const save = () => {
    setChanging(false)
    setChanges(changes + 1)
    onChange()
  }
  return html`<article class="card">
    <h3>${tag}</h3>
    ${
      isChanging
        ? html`<${TenantForm} tenant=${tenant} tags=${[]} onSaved=${save} onCancel=${() => setChanging(false)} />`
        : html`<${Facts} tenant=${tenant} />
            <${TestButton} key=${changes} tag=${tag} isTestedAtOnce=${isNew || changes > 0} />
            <${Buttons} tag=${tag} onChangeAsked=${() => setChanging(true)} onDeleted=${onChange} />`
    }
  </article>`
}

/** @param {{ tenant: Tenant }} props */
function Facts({ tenant }) {
  const t = useTexts(texts)
  const { downstream_base_url: url, downstream_account_id: account, downstream_inbox_id: inbox } = tenant
  return html`<dl class="facts">
    <div>
      <dt>${t.url}</dt>
      <dd>${url}</dd>
    </div>
    <div>
      <dt>${t.account}</dt>
      <dd>${account}</dd>
    </div>
    <div>
      <dt>${t.inbox}</dt>
      <dd>${inbox === 0 ? t.ownInboxes : inbox}</dd>
    </div>
    <div>
      <dt>${t.changed}</dt>
      <dd><${Ago} at=${tenant.updated_at} /></dd>
    </div>
  </dl>`
}

/** @param {{ tag: string, onChangeAsked: () => void, onDeleted: () => void }} props */
function Buttons({ tag, onChangeAsked, onDeleted }) {
  const t = useTexts(texts)
  const [isAsking, setAsking] = useState(false)
  const { isBusy, failure, run } = useAction()
  const remove = () => {
    setAsking(false)
    run(async () => {
      await call('DELETE', path`tenants/${tag}`)
      onDeleted()
    })
  }
  return html`<div class="actions">
      <button type="button" class="quiet" onClick=${onChangeAsked}>${t.change}</button>
      <button
        type="button"
        class="danger"
        aria-disabled=${isBusy ? 'true' : null}
        onClick=${() => !isBusy && setAsking(true)}
      >
        ${t.remove}
      </button>
    </div>
    <${Failure} failure=${failure} />
    ${
      isAsking &&
      html`<${AskName}
        name=${tag}
        title=${fill(t.removeTitle, { tag })}
        consequence=${t.removeHint}
        confirm=${t.remove}
        onConfirm=${remove}
        onCancel=${() => setAsking(false)}
      />`
    }`
}
