// Where the messages of the instance go, how fast, and through which proxy.

import { html } from '../../../lib/html.js'
import { fill, useTexts } from '../../../lib/languages.js'
import { Field, valueOf } from '../../../parts/field.js'
import { texts } from './texts.js'

/** @typedef {import('../../../parts/field.js').FieldAttributes} FieldAttributes */
/** @typedef {import('./use-draft.js').Settings} Settings */

/** @param {{ stored: Settings, draft: Partial<Settings>, change: import('./use-draft.js').Change }} props */
export function RouteFields({ stored, draft, change }) {
  const t = useTexts(texts)
  const values = { ...stored, ...draft }
  const read = (/** @type {(text: string) => void} */ take) => (/** @type {Event} */ event) => {
    take(valueOf(event))
  }
  return html`<div>
    <${Field} label=${t.ownerTag} hint=${t.ownerTagHint}>
      ${(/** @type {FieldAttributes} */ attributes) =>
        html`<input
          ...${attributes}
          maxlength="128"
          autocomplete="off"
          value=${values.owner_tag}
          onInput=${read((text) => change('owner_tag', text))}
        />`}
    <//>
    <${Field} label=${t.inboxId} hint=${t.inboxIdHint}>
      ${(/** @type {FieldAttributes} */ attributes) =>
        html`<input
          ...${attributes}
          type="number"
          min="0"
          required
          value=${values.inbox_id}
          onInput=${read((text) => change('inbox_id', Number(text)))}
        />`}
    <//>
    <${Field} label=${t.rateLimit} hint=${t.rateLimitHint}>
      ${(/** @type {FieldAttributes} */ attributes) =>
        html`<input
          ...${attributes}
          type="number"
          min="0"
          max="100000"
          placeholder=${t.asService}
          value=${values.outgoing_rate_limit ?? ''}
          onInput=${read((text) => change('outgoing_rate_limit', text === '' ? null : Number(text)))}
        />`}
    <//>
    <label class="choice">
      <input
        type="checkbox"
        checked=${values.spamguard_enabled}
        onChange=${() => change('spamguard_enabled', !values.spamguard_enabled)}
      />
      <span>${t.spamguard}<span class="hint">${t.spamguardHint}</span></span>
    </label>
    <${Proxy} stored=${stored.network_proxy} typed=${draft.network_proxy} change=${change} />
  </div>`
}

/**
 * The address may hold a password: what is stored is shown without it and cannot be read back.
 * @param {{ stored: string | null, typed: string | null | undefined, change: import('./use-draft.js').Change }} props
 */
function Proxy({ stored, typed, change }) {
  const t = useTexts(texts)
  const isRemoved = typed === null
  return html`<${Field} label=${t.proxy} hint=${t.proxyHint}>
      ${(/** @type {FieldAttributes} */ attributes) =>
        html`<input
          ...${attributes}
          type="password"
          autocomplete="off"
          placeholder=${stored ?? t.asService}
          disabled=${isRemoved}
          value=${typed ?? ''}
          onInput=${(/** @type {Event} */ event) => change('network_proxy', valueOf(event) || undefined)}
        />`}
    <//>
    ${
      stored !== null &&
      html`<label class="choice">
        <input
          type="checkbox"
          checked=${isRemoved}
          onChange=${() => change('network_proxy', isRemoved ? undefined : null)}
        />
        ${fill(t.removeProxy, { proxy: stored })}
      </label>`
    }`
}
