// What the operator must look at, the most urgent first. Held helpdesk inboxes are among it, with their cure.

import { html } from '../../lib/html.js'
import { useTexts } from '../../lib/languages.js'
import { Ago } from '../../parts/ago.js'
import { Notice } from '../../parts/notice.js'
import { texts } from './texts.js'

/** @typedef {import('./use-overview.js').Need} Need */

/** Messages flow, but something is not as it should be. */
const mild = new Set(['setup', 'ban_risk', 'deliveries_exhausted', 'clock_differs', 'worker_failed'])

/** @param {{ needs: readonly Need[] }} props */
export function NeedsYou({ needs }) {
  const t = useTexts(texts)
  return html`<section aria-labelledby="needs-you" class="needs">
    <h2 id="needs-you">${t.needsYou}</h2>
    <div aria-live="polite">
      ${needs.length === 0 && html`<${Notice} kind="good"><p>${t.nothing}</p><//>`}
      <ul class="plain">
        ${needs.map((need) => html`<li key=${keyOf(need)}><${OneNeed} need=${need} /></li>`)}
      </ul>
    </div>
  </section>`
}

/** @param {Need} need */
function keyOf({ kind, instance, destination, sentence }) {
  return [kind, instance, destination, sentence].join('\n')
}

/** @param {{ need: Need }} props */
function OneNeed({ need: { kind, instance, destination, sentence, cure, since } }) {
  const t = useTexts(texts)
  const title = /** @type {Record<string, string>} */ (t)[`need_${kind}`] ?? kind
  return html`<${Notice} kind=${mild.has(kind) ? 'warn' : 'bad'}>
    <h3>
      ${title}${
        instance !== null && html`${': '}<a href=${`#/instances/${encodeURIComponent(instance)}`}>${instance}</a>`
      }
      ${destination !== null && html`${': '}<a href="#/helpdesks">${destination}</a>`}
    </h3>
    <p>${sentence}</p>
    <p class="cure"><strong>${t.cure}</strong> ${cure}</p>
    ${since !== null && html`<p class="since">${t.since} <${Ago} at=${since} /></p>`}
  <//>`
}
