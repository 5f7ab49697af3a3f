// The form of a tenant. Secrets are written and never shown: an empty field leaves a stored secret as it is.

import { call, get, path } from '../../../lib/api.js'
import { html } from '../../../lib/html.js'
import { useTexts } from '../../../lib/languages.js'
import { Failure, useAction } from '../../../parts/action-button.js'
import { CheckLines } from '../../../parts/check-lines.js'
import { Field, valueOf } from '../../../parts/field.js'
import { useState } from '../../../vendor/hooks.js'
import { toAccess, toSettings } from './read-form.js'
import { texts } from './texts.js'

/** @typedef {import('./tenant-card.js').Tenant} Tenant */
/** @typedef {import('../../../parts/check-lines.js').Check} Check */

/**
 * @param {{
 *   tenant: Tenant | null, tags: readonly string[], onSaved: (tag: string) => void, onCancel: () => void
 * }} props null for a new tenant; `tags` are taken
 */
export function TenantForm({ tenant, tags, onSaved, onCancel }) {
  const t = useTexts(texts)
  const [tag, setTag] = useState(tenant?.owner_tag ?? '')
  const [checks, setChecks] = useState(/** @type {Check[] | null} */ (null))
  const { isBusy, failure, run } = useAction()
  const isTaken = tags.includes(tag)
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    if (isTaken) return
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget))
    const isTest = event.submitter?.getAttribute('name') === 'test'
    run(async () => {
      setChecks(null)
      if (isTest) {
        const report = /** @type {{ checks: Check[] }} */ (await call('POST', 'destinations/test', toAccess(form)))
        setChecks(report.checks)
      } else {
        if (!tenant) await refuseTaken(tag, t.tagTaken)
        await call(tenant ? 'PATCH' : 'PUT', path`tenants/${tag}`, toSettings(form))
        onSaved(tag)
      }
    })
  }
  return html`<form onSubmit=${submit} onInput=${() => setChecks(null)}>
    ${!tenant && html`<${TagField} tag=${tag} isTaken=${isTaken} onType=${setTag} />`}
    <${AccessFields} tenant=${tenant} />
    <div aria-live="polite">${checks && html`<${CheckLines} checks=${checks} />`}</div>
    <${Failure} failure=${failure} />
    <div class="actions">
      <button type="submit" disabled=${isTaken} aria-disabled=${isBusy ? 'true' : null}>
        ${isBusy ? t.working : t.save}
      </button>
      <button type="submit" name="test" class="quiet" aria-disabled=${isBusy ? 'true' : null}>${t.tryIt}</button>
      <button type="button" class="quiet" onClick=${onCancel}>${t.cancel}</button>
    </div>
    ${tenant && html`<p class="hint">${t.tryHint}</p>`}
  </form>`
}

/** Another person may have added the tenant since the page was loaded, and a PUT would replace it. @param {string} tag @param {string} sentence */
async function refuseTaken(tag, sentence) {
  const tenants = /** @type {Tenant[]} */ (await get('tenants'))
  if (tenants.some(({ owner_tag: taken }) => taken === tag)) throw new Error(sentence)
}

/** @param {{ tag: string, isTaken: boolean, onType: (tag: string) => void }} props */
function TagField({ tag, isTaken, onType }) {
  const t = useTexts(texts)
  const type = (/** @type {Event} */ event) => {
    onType(valueOf(event))
  }
  return html`<${Field} label=${t.tag} hint=${t.tagHint}>
      ${(/** @type {object} */ attributes) =>
        html`<input ...${attributes} value=${tag} onInput=${type} maxlength="128" required autocomplete="off" />`}
    <//>
    <p class="bad" aria-live="polite">${isTaken && `✕ ${t.tagTaken}`}</p>`
}

/** The form keeps what is typed: a value here would undo it. @param {{ tenant: Tenant | null }} props */
function AccessFields({ tenant }) {
  const t = useTexts(texts)
  /** @param {string} label @param {string} hint @param {Record<string, unknown>} input */
  const field = (label, hint, input) =>
    html`<${Field} label=${label} hint=${hint}>
      ${(/** @type {object} */ attributes) => html`<input ...${attributes} ...${input} autocomplete="off" />`}
    <//>`
  const whole = { type: 'number', step: 1, required: true }
  const stays = tenant ? t.secretStays : ''
  return html`
    ${field(t.url, t.urlHint, { name: 'url', type: 'url', required: true, defaultValue: tenant?.downstream_base_url ?? '' })}
    ${field(t.token, `${t.tokenHint} ${stays}`, { name: 'token', type: 'password', required: !tenant })}
    ${field(t.account, t.accountHint, { name: 'account', min: 1, defaultValue: tenant?.downstream_account_id ?? 1, ...whole })}
    ${field(t.inbox, t.inboxHint, { name: 'inbox', min: 0, defaultValue: tenant?.downstream_inbox_id ?? 0, ...whole })}
    ${field(t.secret, `${t.secretHint} ${stays}`, { name: 'secret', type: 'password' })}
    ${
      tenant && html`<label class="choice"><input type="checkbox" name="clear" /> <span>${t.clearSecret}</span></label>`
    }
  `
}
