// Received messages that were set aside, without their texts: try all again, or drop one.

import { call, path } from '../../../lib/api.js'
import { formatNumber } from '../../../lib/format.js'
import { html } from '../../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../../lib/languages.js'
import { maskNumbers } from '../../../lib/mask.js'
import { useReload } from '../../../lib/use-reload.js'
import { ActionButton } from '../../../parts/action-button.js'
import { Ago } from '../../../parts/ago.js'
import { ConfirmButton } from '../../../parts/confirm-button.js'
import { DataTable } from '../../../parts/data-table.js'
import { Loaded } from '../../../parts/loaded.js'
import { Section } from '../../../parts/section.js'
import { useState } from '../../../vendor/hooks.js'
import { texts } from './texts.js'

/** @typedef {{ id: string, kind: string, received_at: string, attempts: number, error: string | null }} Parked */

/** @param {{ row: import('../../../lib/use-instance.js').Row }} props */
export function ParkedSection({ row: { name, parked: count } }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const loaded = useReload(path`instances/${name}/parked`, count)
  const [done, setDone] = useState('')
  const retry = async () => {
    const { retried } = await /** @type {Promise<{ retried: number }>} */ (
      call('POST', path`instances/${name}/parked/retry`)
    )
    setDone(fill(t.retried, { count: formatNumber(language, retried) }))
    loaded.reload()
  }
  const drop = (/** @type {string} */ id) => async () => {
    await call('DELETE', path`instances/${name}/parked/${id}`)
    setDone(t.dropped)
    loaded.reload()
  }
  return html`<${Section} title=${t.parked} wide>
    <${Loaded} from=${loaded}>
      ${(/** @type {{ parked: Parked[] }} */ { parked }) => html`
        <${DataTable}
          caption=${t.parked}
          empty=${t.noParked}
          rows=${parked}
          keyOf=${(/** @type {Parked} */ { id }) => id}
          columns=${columnsOf(t, language, drop)}
        />
        ${
          count > parked.length &&
          html`<p class="soft">${fill(t.oldestOnly, { count: formatNumber(language, parked.length) })}</p>`
        }
        ${parked.length > 0 && html`<div class="actions"><${ActionButton} run=${retry}>${t.retryAll}<//></div>`}
      `}
    <//>
    <p role="status">${done}</p>
  <//>`
}

/**
 * @param {typeof texts.en} t
 * @param {import('../../../lib/languages.js').Language} language
 * @param {(id: string) => () => Promise<void>} drop
 * @returns {import('../../../parts/data-table.js').Column<Parked>[]}
 */
function columnsOf(t, language, drop) {
  return [
    { head: t.kind, cell: ({ kind }) => kind },
    { head: t.received, cell: ({ received_at: at }) => html`<${Ago} at=${at} />` },
    { head: t.attempts, kind: 'number', cell: ({ attempts }) => formatNumber(language, attempts) },
    { head: t.why, cell: ({ error }) => maskNumbers(error ?? '–') },
    { head: t.action, cell: ({ id }) => html`<${ConfirmButton} run=${drop(id)} confirm=${t.reallyDrop}>${t.drop}<//>` },
  ]
}
