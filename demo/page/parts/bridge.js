// The bridge in the middle: the linked account, what waits, the messages that pass, and the ways to break something.

import { html } from '../../../static/app/lib/html.js'
import { fill, useTexts } from '../../../static/app/lib/languages.js'
import { texts } from '../texts.js'
import { BreakIt } from './break-it.js'
import { Nodes } from './nodes.js'
import { Passages } from './passages.js'
import { QrCard } from './qr-card.js'

/** @typedef {import('../../view.ts').Snapshot} Snapshot */
/** @typedef {import('../demo-page.js').Try} Try */

/** @param {{ snapshot: Snapshot, attempt: Try }} props */
export function Bridge({ snapshot, attempt }) {
  const t = useTexts(texts)
  const { isLinked } = snapshot.story
  return html`<section class="bridge" aria-labelledby="bridge-title">
    <h2 id="bridge-title">${t.bridge}</h2>
    <p class="hint">${t.account}</p>
    <${InstanceCard} snapshot=${snapshot} />
    ${snapshot.nodes.length > 0 && html`<${Nodes} snapshot=${snapshot} attempt=${attempt} />`}
    ${isLinked ? html`<${Passages} snapshot=${snapshot} />` : html`<${QrCard} snapshot=${snapshot} attempt=${attempt} />`}
    ${isLinked && html`<${Balance} snapshot=${snapshot} />`}
    ${isLinked && html`<${BreakIt} snapshot=${snapshot} attempt=${attempt} />`}
  </section>`
}

/** @param {{ snapshot: Snapshot }} props */
function InstanceCard({ snapshot: { bridge, broken } }) {
  const t = useTexts(texts)
  const hasEnded = bridge.starts > 0 && bridge.pid === null
  const [look, sign, state] = broken.killed
    ? ['bad', '✗', t.stateDown]
    : hasEnded
      ? ['bad', '✗', t.stateEnded]
      : !bridge.isUp
        ? ['warn', '○', t.loading]
        : bridge.state === 'ready'
          ? ['good', '●', t.stateReady]
          : ['warn', '○', bridge.state === 'qr_pending' ? t.stateQr : fill(t.stateOther, { state: bridge.state })]
  return html`<div class="card account">
    <div><strong>${bridge.name}</strong> <span class="soft">${bridge.phone}</span></div>
    <span class=${`badge ${look}`} role="status"><span aria-hidden="true">${sign}</span> ${state}</span>
  </div>`
}

/**
 * What waits, what was a repetition, and that nothing is lost.
 * @param {{ snapshot: Snapshot }} props
 */
function Balance({ snapshot: { bridge, tally } }) {
  const t = useTexts(texts)
  const onTheWay = tally.in.sent - tally.in.arrived + tally.out.sent - tally.out.arrived
  const isWrong = tally.doubled > 0
  const numbers = {
    ...{ inArrived: tally.in.arrived, inSent: tally.in.sent },
    ...{ outArrived: tally.out.arrived, outSent: tally.out.sent },
  }
  const [look, sign, sentence] = isWrong
    ? ['bad', '✗', t.wrong]
    : onTheWay > 0
      ? ['warn', '◷', fill(t.onTheWay, { count: onTheWay })]
      : tally.failed > 0
        ? ['warn', '!', fill(t.pressRetry, { count: tally.failed })]
        : ['good', '✓', t.nothingLost]
  return html`<div class=${`balance notice ${look}`} role="status">
      <p><strong>${sign} ${sentence}</strong></p>
      <p>${fill(t.inOut, numbers)}</p>
    </div>
    <dl class="waits" aria-label=${t.waits}>
      <div>
        <dt>${t.inbox}</dt>
        <dd>${bridge.inboxPending}</dd>
      </div>
      <div>
        <dt>${t.outbox}</dt>
        <dd>${bridge.outboxPending}</dd>
      </div>
      <div>
        <dt>${t.repeated}</dt>
        <dd>${tally.repeated}</dd>
      </div>
    </dl>`
}
