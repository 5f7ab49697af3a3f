// The head of the page: the state, the own phone and the last messages.

import { html } from '../../../lib/html.js'
import { useTexts } from '../../../lib/languages.js'
import { Ago } from '../../../parts/ago.js'
import { Notice } from '../../../parts/notice.js'
import { needsPhone } from '../../../parts/pairing/pairing.js'
import { StateBadge } from '../../../parts/state-badge.js'
import { texts } from './texts.js'

/** @param {{ row: import('../../../lib/use-instance.js').Row }} props */
export function Facts({ row }) {
  const t = useTexts(texts)
  // The section that links the phone says why there is no code.
  const isShownBelow = needsPhone(row) && row.state !== 'qr_pending'
  return html`<div class="instance-head">
      <p aria-live="polite"><${StateBadge} state=${row.state} /></p>
      <dl>
        <div>
          <dt>${t.phone}</dt>
          <dd>${row.phone === '' ? t.noPhone : `+${row.phone}`}</dd>
        </div>
        <div>
          <dt>${t.helpdesk}</dt>
          <dd>${row.owner_tag === '' ? t.defaultHelpdesk : row.owner_tag}</dd>
        </div>
        <div>
          <dt>${t.lastIn}</dt>
          <dd><${Ago} at=${row.last_in_at} /></dd>
        </div>
        <div>
          <dt>${t.lastOut}</dt>
          <dd><${Ago} at=${row.last_out_at} /></dd>
        </div>
      </dl>
    </div>
    ${row.last_error !== null && row.state !== 'ready' && !isShownBelow && html`<${Notice} kind="warn"><p>${row.last_error}</p><//>`}
    ${row.pending_logout && html`<${Notice} kind="warn"><p>${t.pendingLogout}</p><//>`}`
}
