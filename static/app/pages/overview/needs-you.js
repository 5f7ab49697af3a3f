// What the operator must look at, the most urgent first. Held helpdesk inboxes are among it, with their cure.

import { formatNumber } from '../../lib/format.js'
import { html } from '../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../lib/languages.js'
import { Ago } from '../../parts/ago.js'
import { Notice } from '../../parts/notice.js'
import { texts } from './texts.js'

/** @typedef {import('./use-overview.js').Need} Need */

/** Messages flow, but something is not as it should be. */
const mild = new Set(['setup', 'ban_risk', 'deliveries_exhausted', 'clock_differs', 'worker_failed', 'settings_differ'])

/** The rest is behind a line, so that the instances stay in sight. */
const shownAtOnce = 6

/** @param {{ needs: readonly Need[] }} props */
export function NeedsYou({ needs }) {
  const t = useTexts(texts)
  const language = useLanguage()
  return html`<section aria-labelledby="needs-you" class="needs">
    <h2 id="needs-you">${t.needsYou}</h2>
    <p class="hidden" role="status">
      ${needs.length > 0 && fill(t.count, { count: formatNumber(language, needs.length) })}
    </p>
    <div role="status">${needs.length === 0 && html`<${Notice} kind="good"><p>${t.nothing}</p><//>`}</div>
    <${NeedList} needs=${needs.slice(0, shownAtOnce)} />
    ${
      needs.length > shownAtOnce &&
      html`<details>
        <summary>${fill(t.more, { count: formatNumber(language, needs.length - shownAtOnce) })}</summary>
        <${NeedList} needs=${needs.slice(shownAtOnce)} />
      </details>`
    }
  </section>`
}

/** @param {{ needs: readonly Need[] }} props */
function NeedList({ needs }) {
  return html`<ul class="plain">
    ${needs.map((need) => html`<li key=${keyOf(need)}><${OneNeed} need=${need} /></li>`)}
  </ul>`
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
    <p class="sentence">${sentence}</p>
    <p><strong>${t.cure}</strong> ${cure}</p>
    ${since !== null && html`<p class="since">${t.since} <${Ago} at=${since} /></p>`}
  <//>`
}
