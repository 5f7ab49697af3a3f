// Asks for a message in each direction, and ticks off what arrived.

import { html } from '../../../lib/html.js'
import { path } from '../../../lib/api.js'
import { fill, useTexts } from '../../../lib/languages.js'
import { useInstance } from '../../../lib/use-instance.js'
import { useLoad } from '../../../lib/use-load.js'
import { Loaded } from '../../../parts/loaded.js'
import { Notice } from '../../../parts/notice.js'
import { needsPhone } from '../../../parts/pairing/pairing.js'
import { StateBadge } from '../../../parts/state-badge.js'
import { addressOf } from '../steps.js'
import { texts as wizardTexts } from '../texts.js'
import { NoInstance } from './link-step.js'
import { texts } from './texts.js'

/** @typedef {import('../../../lib/use-instance.js').Row} Row */

/** @param {{ name: string, tag: string | null }} props */
export function TryStep({ name, tag }) {
  const instance = useInstance(name)
  return html`<${Loaded} from=${instance}>
    ${(/** @type {NonNullable<typeof instance.data>} */ { row }) =>
      row ? html`<${Try} row=${row} tag=${tag} />` : html`<${NoInstance} name=${name} tag=${tag} />`}
  <//>`
}

/** @param {{ row: Row, tag: string | null }} props */
function NotLinked({ row: { name }, tag }) {
  const t = useTexts(texts)
  const w = useTexts(wizardTexts)
  return html`<${Notice} kind="warn"><p>${t.notLinked}</p><//>
    <div class="actions"><a class="button" href=${`#${addressOf(name, 'link', tag)}`}>${w.back}</a></div>`
}

/** @param {{ row: Row, tag: string | null }} props */
function Try({ row, tag }) {
  const detail = useLoad(path`instances/${row.name}`)
  if (needsPhone(row)) return html`<${NotLinked} row=${row} tag=${tag} />`
  return html`<${Loaded} from=${detail}>
    ${(/** @type {{ paired_at: string | null }} */ { paired_at: since }) =>
      html`<${Directions} row=${row} tag=${tag} since=${since} />`}
  <//>`
}

/** @param {{ row: Row, tag: string | null, since: string | null }} props */
function Directions({ row, tag, since }) {
  const t = useTexts(texts)
  const w = useTexts(wizardTexts)
  const { name, phone, state } = row
  const isIn = isAfter(row.last_in_at, since)
  const isOut = isAfter(row.last_out_at, since)
  const isDone = isIn && isOut
  return html`
    <h2>${t.tryTitle}</h2>
    ${state !== 'ready' && html`<p><${StateBadge} state=${state} /></p>`}
    <ul class="checks" aria-live="polite">
      <${Direction} isDone=${isIn} title=${fill(t.writeIn, { phone: `+${phone}` })} done=${t.cameIn} />
      <${Direction} isDone=${isOut} title=${t.writeOut} done=${t.wentOut} />
    </ul>
    <div role="status">${isDone && html`<${Notice} kind="good"><p>${fill(t.done, { name })}</p><//>`}</div>
    <div class="actions">
      <a class="button quiet" href=${`#${addressOf(name, 'link', tag)}`}>${w.back}</a>
      <a class=${isDone ? 'button' : 'button quiet'} href=${`#/instances/${encodeURIComponent(name)}`}>
        ${isDone ? t.toInstance : t.skip}
      </a>
    </div>
  `
}

/** A message from before the phone was linked shows nothing. @param {string | null} at @param {string | null} since */
function isAfter(at, since) {
  return at !== null && (since === null || Date.parse(at) >= Date.parse(since))
}

/** @param {{ isDone: boolean, title: string, done: string }} props */
function Direction({ isDone, title, done }) {
  const t = useTexts(texts)
  return html`<li class=${isDone ? 'good' : ''}>
    <span class="sign" aria-hidden="true">${isDone ? '✓' : '○'}</span>
    <div>
      <p>${title}</p>
      <p class=${isDone ? '' : 'soft'}>${isDone ? done : t.waiting}</p>
    </div>
  </li>`
}
