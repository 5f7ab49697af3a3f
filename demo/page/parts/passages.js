// Every message passes as a dot with its milliseconds: to the right into the helpdesk, to the left onto the phone.

import { html } from '../../../static/app/lib/html.js'
import { formatNumber } from '../../../static/app/lib/format.js'
import { fill, useLanguage, useTexts } from '../../../static/app/lib/languages.js'
import { texts } from '../texts.js'

/** @typedef {import('../../view.ts').Passage} Passage */

/** @type {Record<Passage['kind'], 'kindText' | 'kindPhoto' | 'kindVoice' | 'kindReaction' | 'kindQuote' | 'kindGroup' | 'kindCall' | 'kindEdit' | 'kindDelete'>} */
const kinds = {
  text: 'kindText',
  photo: 'kindPhoto',
  voice: 'kindVoice',
  reaction: 'kindReaction',
  quote: 'kindQuote',
  group: 'kindGroup',
  call: 'kindCall',
  edit: 'kindEdit',
  delete: 'kindDelete',
}

/** @param {{ snapshot: import('../../view.ts').Snapshot }} props */
export function Passages({ snapshot }) {
  const t = useTexts(texts)
  return html`<div class="card passages">
    <h3>${t.passages}</h3>
    <ol>
      ${[...snapshot.passages].reverse().map((each) => html`<${Row} key=${each.number} passage=${each} />`)}
    </ol>
    ${snapshot.passages.length < 2 && html`<p class="hint">${t.noPassages}</p>`}
  </div>`
}

/** @param {{ passage: Passage }} props */
function Row({ passage }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const { direction, kind, startedAt, arrivedAt, hasFailed, isWithdrawn } = passage
  const state = hasFailed ? 'failed' : isWithdrawn ? 'withdrawn' : arrivedAt === null ? 'waiting' : 'arrived'
  const ms = (arrivedAt ?? 0) - startedAt
  const time =
    ms < 1000
      ? fill(t.milliseconds, { ms: formatNumber(language, ms) })
      : fill(t.seconds, { s: formatNumber(language, ms / 1000, { maximumFractionDigits: 1 }) })
  const result = { failed: t.failed, withdrawn: t.withdrawn, waiting: t.waiting, arrived: time }[state]
  return html`<li class=${`${direction} ${state}`}>
    <span class="kind"
      ><span aria-hidden="true">${direction === 'in' ? '→' : '←'}</span> ${t[kinds[kind]]}
      <span class="hidden"> ${direction === 'in' ? t.toHelpdesk : t.toPhone}</span></span
    >
    <span class="way" aria-hidden="true"><span class="dot"></span></span>
    <span class="time">${result}</span>
  </li>`
}
