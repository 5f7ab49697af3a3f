// Links the phone: shows the QR code while there is one, or a code to type, and goes on when the account is linked.

import { call, path } from '../../../lib/api.js'
import { html } from '../../../lib/html.js'
import { fill, useTexts } from '../../../lib/languages.js'
import { goTo } from '../../../lib/router.js'
import { ActionButton } from '../../../parts/action-button.js'
import { Loaded } from '../../../parts/loaded.js'
import { Notice } from '../../../parts/notice.js'
import { StateBadge } from '../../../parts/state-badge.js'
import { useEffect, useRef } from '../../../vendor/hooks.js'
import { addressOf } from '../steps.js'
import { texts as wizardTexts } from '../texts.js'
import { useInstance } from '../use-instance.js'
import { PairingCode } from './pairing-code.js'
import { QrCode } from './qr-code.js'
import { texts } from './texts.js'

/** @typedef {import('../../overview/row-store.js').Row} Row */

/** @param {{ name: string, tag: string | null }} props */
export function LinkStep({ name, tag }) {
  const instance = useInstance(name)
  return html`<${Loaded} from=${instance}>
    ${(/** @type {NonNullable<typeof instance.data>} */ { row }) =>
      row ? html`<${Linking} row=${row} tag=${tag} />` : html`<${NoInstance} name=${name} tag=${tag} />`}
  <//>`
}

/** @param {{ name: string, tag: string | null }} props */
export function NoInstance({ name, tag }) {
  const t = useTexts(texts)
  const w = useTexts(wizardTexts)
  return html`<${Notice} kind="warn"><p>${fill(t.noInstance, { name })}</p><//>
    <div class="actions"><a class="button" href=${`#${addressOf(name, 'helpdesk', tag)}`}>${w.back}</a></div>`
}

/** @param {{ row: Row, tag: string | null }} props */
function Linking({ row, tag }) {
  const t = useTexts(texts)
  const w = useTexts(wizardTexts)
  const { name, state, phone } = row
  const isLinked = state === 'ready' || state === 'connected'
  const wasLinked = useRef(isLinked)
  const next = addressOf(name, 'try', tag)
  useEffect(() => {
    // A visitor who comes back to a linked account stays on this step.
    if (isLinked && !wasLinked.current) goTo(next)
  }, [isLinked])
  return html`
    <h2>${t.title}</h2>
    <p role="status"><${StateBadge} state=${state} /></p>
    ${isLinked ? html`<p>${fill(t.linked, { phone: `+${phone}` })}</p>` : html`<${Ways} row=${row} />`}
    <div class="actions">
      <a class="button quiet" href=${`#${addressOf(name, 'inbox', tag)}`}>${w.back}</a>
      ${isLinked && html`<a class="button" href=${`#${next}`}>${w.next}</a>`}
    </div>
  `
}

/** @param {{ row: Row }} props */
function Ways({ row: { name, state, phone, last_error: error } }) {
  const t = useTexts(texts)
  if (state === 'qr_pending') return html`<${QrCode} name=${name} /> <${PairingCode} name=${name} />`
  // The phone is linked and the connection is being opened.
  if (state === 'paired' || state === 'connecting') return html`<p>${t.connecting}</p>`
  // A new code would replace a session that still works.
  if (state === 'disconnected' && phone !== '')
    return html`<p>${fill(t.linked, { phone: `+${phone}` })} ${t.tries}</p>
      ${error && html`<${Notice} kind="warn"><p>${error}</p><//>`}`
  return html`
    <${Notice} kind="warn"><p>${error ?? t.over}</p><//>
    <${ActionButton} run=${() => call('POST', path`instances/${name}/refresh-qr`)}>${t.newCode}<//>
  `
}
