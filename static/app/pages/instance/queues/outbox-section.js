// The messages of agents by what became of them, and the received ones that wait.

import { path } from '../../../lib/api.js'
import { formatNumber } from '../../../lib/format.js'
import { html } from '../../../lib/html.js'
import { useLanguage, useTexts } from '../../../lib/languages.js'
import { useReload } from '../../../lib/use-reload.js'
import { Ago } from '../../../parts/ago.js'
import { Loaded } from '../../../parts/loaded.js'
import { Section } from '../../../parts/section.js'
import { texts } from './texts.js'

/**
 * @typedef {{
 *   pending: number, sent: number, expired: number, failed: number, oldest_pending_at: string | null,
 * }} Totals
 */

/** @param {{ row: import('../../../lib/use-instance.js').Row }} props */
export function OutboxSection({ row }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const totals = useReload(path`instances/${row.name}/outbox`, `${row.outbox_pending} ${row.last_out_at}`)
  const line = (/** @type {string} */ label, /** @type {number} */ count, kind = '') =>
    html`<div>
      <dt>${label}</dt>
      <dd class=${count > 0 ? kind : ''}>${formatNumber(language, count)}</dd>
    </div>`
  return html`<${Section} title=${t.outbox}>
    <dl class="facts">
      ${line(t.outboxPending, row.outbox_pending, 'warn')} ${line(t.inboxPending, row.inbox_pending, 'warn')}
    </dl>
    <${Loaded} from=${totals}>
      ${(/** @type {Totals} */ { sent, expired, failed, oldest_pending_at: oldest }) =>
        html`<dl class="facts">
          ${
            oldest !== null &&
            html`<div>
              <dt>${t.oldest}</dt>
              <dd><${Ago} at=${oldest} /></dd>
            </div>`
          }
          ${line(t.sent, sent)} ${line(t.expired, expired, 'bad')} ${line(t.failed, failed, 'bad')}
        </dl>`}
    <//>
    <p class="hint">${t.outboxHint}</p>
  <//>`
}
