// The inboxes that get messages, with the instances that use them. An inbox that takes nothing says why, and its cure.

import { html } from '../../../lib/html.js'
import { fill, useTexts } from '../../../lib/languages.js'
import { Ago } from '../../../parts/ago.js'
import { Notice } from '../../../parts/notice.js'
import { texts } from './texts.js'
import { TestButton } from './test-button.js'

/** @typedef {{ reason: string, since: string, cure: string }} Hold */
/** @typedef {{ reason: string, advice: string, since: string }} Loss */
/**
 * @typedef {{
 *   destination: string, owner_tag: string | null, base_url: string, account_id: number, inbox_id: number,
 *   instances: string[], version: string | null, held: Hold | null, callbacks_lost: Loss | null,
 * }} Destination
 */

/** @param {{ destinations: readonly Destination[] }} props */
export function DestinationList({ destinations }) {
  const t = useTexts(texts)
  if (destinations.length === 0) return html`<${Notice} kind="warn"><p>${t.none}</p><//>`
  // Those that take nothing come first.
  const isBad = (/** @type {Destination} */ { held, callbacks_lost: lost }) => (held || lost ? 0 : 1)
  const sorted = [...destinations].sort((a, b) => isBad(a) - isBad(b))
  return html`<ul class="cards wider" aria-live="polite">
    ${sorted.map(
      (each) =>
        html`<li key=${`${each.owner_tag} ${each.destination}`}><${DestinationCard} destination=${each} /></li>`,
    )}
  </ul>`
}

/** @param {{ destination: Destination }} props */
function DestinationCard({ destination }) {
  const t = useTexts(texts)
  const { owner_tag: tag, base_url: url, account_id: account, inbox_id: inbox } = destination
  const { version, held, callbacks_lost: lost } = destination
  return html`<article class="card">
    <h3>${url}</h3>
    ${!held && !lost && html`<p class="good"><span aria-hidden="true">✓</span> ${t.noProblem}</p>`}
    ${held && html`<${Problem} title=${t.takesNothing} sentence=${held.reason} cure=${held.cure} since=${held.since} />`}
    ${lost && html`<${Problem} title=${t.callbacksLost} sentence=${lost.reason} cure=${lost.advice} since=${lost.since} />`}
    <dl class="facts">
      <div>
        <dt>${t.account}</dt>
        <dd>${account}</dd>
      </div>
      <div>
        <dt>${t.inbox}</dt>
        <dd>${inbox === 0 ? t.noInbox : inbox}</dd>
      </div>
      <div>
        <dt>${t.namedBy}</dt>
        <dd>${tag === null ? t.settings : fill(t.tenant, { tag })}</dd>
      </div>
      <div>
        <dt>${t.version}</dt>
        <dd>${version ?? t.unknown}</dd>
      </div>
      <div>
        <dt>${t.instances}</dt>
        <dd><${Instances} names=${destination.instances} /></dd>
      </div>
    </dl>
    ${tag === null && html`<${TestButton} tag="" />`}
  </article>`
}

/** @param {{ title: string, sentence: string, cure: string, since: string }} props */
function Problem({ title, sentence, cure, since }) {
  const t = useTexts(texts)
  return html`<${Notice} kind="bad">
    <p><strong>${title}</strong></p>
    <p class="sentence">${sentence}</p>
    <p><strong>${t.cure}</strong> ${cure}</p>
    <p class="since">${t.since} <${Ago} at=${since} /></p>
  <//>`
}

const mostInstances = 20

/** @param {{ names: readonly string[] }} props */
function Instances({ names }) {
  const t = useTexts(texts)
  if (names.length === 0) return html`<span>${t.noInstance}</span>`
  const more = names.length - mostInstances
  return html`${names.slice(0, mostInstances).map((name, index) => {
    const comma = index === 0 ? '' : ', '
    return html`${comma}<a key=${name} href=${`#/instances/${encodeURIComponent(name)}`}>${name}</a>`
  })}${more > 0 && fill(t.more, { count: more })}`
}
