// One instance: its state, its own number, the last messages, and what waits.

import { formatNumber } from '../../lib/format.js'
import { html } from '../../lib/html.js'
import { useLanguage, useTexts } from '../../lib/languages.js'
import { Ago } from '../../parts/ago.js'
import { needsPhone } from '../../parts/pairing/pairing.js'
import { StateBadge } from '../../parts/state-badge.js'
import { useEffect, useState } from '../../vendor/hooks.js'
import { texts } from './texts.js'

/** @typedef {import('./row-store.js').Row} Row */
/** @typedef {typeof texts.en} Texts */

/** @param {{ store: import('./row-store.js').RowStore, name: string }} props */
export function InstanceCard({ store, name }) {
  const t = useTexts(texts)
  const [row, setRow] = useState(store.get(name))
  useEffect(() => {
    const follow = () => setRow(store.get(name))
    // It may have changed since the card was drawn.
    follow()
    return store.onRow(name, follow)
  }, [store, name])
  if (!row) return null
  const { state, phone, owner_tag: tag, last_error: error } = row
  return html`<li class="card instance">
    <h3><a href=${`#/instances/${encodeURIComponent(name)}`}>${name}</a></h3>
    <p><${StateBadge} state=${state} /></p>
    <p class="soft">${phone === '' ? t.noPhone : `+${phone}`}${tag !== '' && ` · ${tag}`}</p>
    ${state !== 'ready' && error && html`<p class="bad sentence">${error}</p>`}
    ${row.pending_logout && html`<p class="warn">${t.pendingLogout}</p>`}
    <${Facts} row=${row} t=${t} />
    ${
      needsPhone(row) &&
      html`<p><a class="button" href=${`#/new-instance/${encodeURIComponent(name)}/link`}>${t.link}</a></p>`
    }
  </li>`
}

/** @param {{ row: Row, t: Texts }} props */
function Facts({ row, t }) {
  return html`<dl class="facts">
    <div>
      <dt>${t.lastIn}</dt>
      <dd><${Ago} at=${row.last_in_at} /></dd>
    </div>
    <div>
      <dt>${t.lastOut}</dt>
      <dd><${Ago} at=${row.last_out_at} /></dd>
    </div>
    <${Count} name=${t.outbox} value=${row.outbox_pending} kind="warn" />
    <${Count} name=${t.inbox} value=${row.inbox_pending} kind="warn" />
    <${Count} name=${t.parked} value=${row.parked} kind="bad" />
    <div>
      <dt>${t.banRisk}</dt>
      <dd class=${banKinds[row.ban_level]}>
        ${banKinds[row.ban_level] === '' ? '' : '! '}${t[`ban_${row.ban_level}`]}
      </dd>
    </div>
  </dl>`
}

/** @type {Record<Row['ban_level'], string>} */
const banKinds = { ok: '', low: '', moderate: 'warn', high: 'bad' }

/** @param {{ name: string, value: number, kind: 'warn' | 'bad' }} props */
function Count({ name, value, kind }) {
  const language = useLanguage()
  return html`<div>
    <dt>${name}</dt>
    <dd class=${value > 0 ? kind : ''}>${value > 0 ? '! ' : ''}${formatNumber(language, value)}</dd>
  </div>`
}
