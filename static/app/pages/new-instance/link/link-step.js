// Links the phone: shows the QR code while there is one, or a code to type, and goes on when the account is linked.

import { html } from '../../../lib/html.js'
import { fill, useTexts } from '../../../lib/languages.js'
import { goTo } from '../../../lib/router.js'
import { useInstance } from '../../../lib/use-instance.js'
import { Loaded } from '../../../parts/loaded.js'
import { Notice } from '../../../parts/notice.js'
import { Pairing } from '../../../parts/pairing/pairing.js'
import { StateBadge } from '../../../parts/state-badge.js'
import { useEffect, useRef } from '../../../vendor/hooks.js'
import { addressOf } from '../steps.js'
import { texts as wizardTexts } from '../texts.js'
import { texts } from './texts.js'

/** @typedef {import('../../../lib/use-instance.js').Row} Row */

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
    ${isLinked ? html`<p>${fill(t.linked, { phone: `+${phone}` })}</p>` : html`<${Pairing} row=${row} />`}
    <div class="actions">
      <a class="button quiet" href=${`#${addressOf(name, 'inbox', tag)}`}>${w.back}</a>
      ${isLinked && html`<a class="button" href=${`#${next}`}>${w.next}</a>`}
    </div>
  `
}
