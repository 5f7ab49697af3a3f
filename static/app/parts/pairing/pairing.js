// The ways to link a phone: the QR code or a code to type while a pairing is open, otherwise a button that opens one.

import { call, path } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useTexts } from '../../lib/languages.js'
import { ActionButton } from '../action-button.js'
import { Notice } from '../notice.js'
import { PairingCode } from './pairing-code.js'
import { QrCode } from './qr-code.js'
import { texts } from './texts.js'

/** @typedef {import('../../lib/use-instance.js').Row} Row */

/** Whether the account is not linked. @param {Row} row */
export function needsPhone({ state, phone }) {
  return state === 'qr_pending' || state === 'logged_out' || (state === 'disconnected' && phone === '')
}

/** @param {{ row: Row }} props */
export function Pairing({ row: { name, state, phone, last_error: error } }) {
  const t = useTexts(texts)
  if (state === 'qr_pending') return html`<${QrCode} name=${name} /> <${PairingCode} name=${name} />`
  // The phone is linked and the connection is being opened.
  if (state === 'paired' || state === 'connecting') return html`<p>${t.connecting}</p>`
  // A new code would replace a session that still works.
  if (state === 'disconnected' && phone !== '')
    return html`<p>${t.tries}</p>
      ${error && html`<${Notice} kind="warn"><p>${error}</p><//>`}`
  return html`
    <${Notice} kind="warn"><p>${error ?? t.over}</p><//>
    <${ActionButton} run=${() => call('POST', path`instances/${name}/refresh-qr`)}>${t.newCode}<//>
  `
}
