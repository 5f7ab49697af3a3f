// The newest lifecycle deliveries to subscribers, and sending one again.

import { call, path } from '../../../lib/api.js'
import { formatNumber } from '../../../lib/format.js'
import { html } from '../../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../../lib/languages.js'
import { useLive } from '../../../lib/live.js'
import { useReload } from '../../../lib/use-reload.js'
import { ActionButton } from '../../../parts/action-button.js'
import { Ago } from '../../../parts/ago.js'
import { DataTable } from '../../../parts/data-table.js'
import { Loaded } from '../../../parts/loaded.js'
import { Section } from '../../../parts/section.js'
import { useState } from '../../../vendor/hooks.js'
import { texts } from './texts.js'

/** @typedef {'pending' | 'delivered' | 'exhausted' | 'refused' | 'dropped'} Status */
/**
 * @typedef {{
 *   id: string, event: string, subscriber: string, attempts: number, status: Status, last_code: number | null,
 *   last_error: string | null, created_at: string,
 * }} Delivery
 */

/** @type {Record<Status, { kind: 'good' | 'warn' | 'bad', sign: string }>} */
const looks = {
  pending: { kind: 'warn', sign: '↻' },
  delivered: { kind: 'good', sign: '✓' },
  exhausted: { kind: 'bad', sign: '✕' },
  refused: { kind: 'bad', sign: '✕' },
  dropped: { kind: 'bad', sign: '✕' },
}
const firstShown = 10

/** @param {{ name: string }} props */
export function DeliveriesSection({ name }) {
  const t = useTexts(texts)
  const [ended, setEnded] = useState(0)
  useLive(
    ['delivery'],
    ({ instance }) => {
      if (instance === name) setEnded((before) => before + 1)
    },
    [name],
  )
  const loaded = useReload(path`instances/${name}/deliveries`, ended)
  const redeliver = (/** @type {string} */ id) => async () => {
    await call('POST', path`instances/${name}/deliveries/${id}/redeliver`)
    loaded.reload()
  }
  return html`<${Section} title=${t.title} wide>
    <${Loaded} from=${loaded}>
      ${(/** @type {Delivery[]} */ deliveries) => html`<${List} deliveries=${deliveries} redeliver=${redeliver} />`}
    <//>
  <//>`
}

/** @param {{ deliveries: readonly Delivery[], redeliver: (id: string) => () => Promise<void> }} props */
function List({ deliveries, redeliver }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const [isWhole, setWhole] = useState(false)
  /** @type {import('../../../parts/data-table.js').Column<Delivery>[]} */
  const columns = [
    { head: t.event, cell: ({ event }) => html`<code>${event}</code>` },
    { head: t.made, cell: ({ created_at: at }) => html`<${Ago} at=${at} />` },
    { head: t.subscriber, cell: ({ subscriber }) => html`<span class="address">${subscriber}</span>` },
    { head: t.result, cell: (delivery) => html`<${Result} delivery=${delivery} />` },
    { head: t.attempts, kind: 'number', cell: ({ attempts }) => formatNumber(language, attempts) },
    {
      head: t.action,
      cell: ({ id, status }) =>
        status === 'pending' ? '–' : html`<${ActionButton} kind="quiet" run=${redeliver(id)}>${t.again}<//>`,
    },
  ]
  const more = deliveries.length - firstShown
  return html`<${DataTable}
      caption=${t.title}
      empty=${t.none}
      rows=${isWhole ? deliveries : deliveries.slice(0, firstShown)}
      keyOf=${(/** @type {Delivery} */ { id }) => id}
      columns=${columns}
    />
    ${
      !isWhole &&
      more > 0 &&
      html`<div class="actions">
        <button type="button" class="quiet" onClick=${() => setWhole(true)}>${fill(t.more, { count: more })}</button>
      </div>`
    }`
}

/** @param {{ delivery: Delivery }} props */
function Result({ delivery: { status, last_code: code, last_error: error } }) {
  const t = useTexts(texts)
  const { kind, sign } = looks[status]
  const why = status === 'delivered' ? null : (error ?? (code === null ? null : fill(t.answered, { code })))
  return html`<span class=${`badge ${kind}`}><span aria-hidden="true">${sign}</span>${t[status]}</span>
    ${why !== null && html`<p class="hint">${why}</p>`}`
}
