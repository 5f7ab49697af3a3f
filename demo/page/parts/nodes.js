// The nodes of the service, and which of them holds each account.

import { html } from '../../../static/app/lib/html.js'
import { fill, useTexts } from '../../../static/app/lib/languages.js'
import { texts } from '../texts.js'

/** @typedef {import('../../view.ts').NodeView} NodeView */
/** @typedef {import('../demo-page.js').Try} Try */

/** @param {{ snapshot: import('../../view.ts').Snapshot, attempt: Try }} props */
export function Nodes({ snapshot: { nodes, death }, attempt }) {
  const t = useTexts(texts)
  return html`<div class="nodes">
    <h3>${t.nodes}</h3>
    <p class="hint">${t.nodesHint}</p>
    <ul>
      ${nodes.map((node) => html`<${Node} key=${node.number} node=${node} attempt=${attempt} />`)}
    </ul>
    <p role="status">${death && sentenceOf(death, t)}</p>
  </div>`
}

/** @param {{ node: NodeView, attempt: Try }} props */
function Node({ node: { number, pid, isUp, accounts }, attempt }) {
  const t = useTexts(texts)
  const [look, sign, state] = isUp
    ? ['good', '●', fill(t.nodeUp, { pid: pid ?? '–' })]
    : pid === null
      ? ['bad', '✗', t.nodeDown]
      : ['warn', '○', t.loading]
  const isDown = pid === null
  return html`<li class="card">
    <strong>${fill(t.node, { number })}</strong>
    <span class=${`badge ${look}`}><span aria-hidden="true">${sign}</span> ${state}</span>
    <span class="held">${accounts.length > 0 ? accounts.join(', ') : t.holdsNothing}</span>
    <button
      type="button"
      class=${isDown ? 'mend' : 'danger'}
      disabled=${!isDown && !isUp}
      onClick=${() => attempt(isDown ? 'start-node' : 'kill-node', { node: number })}
    >
      ${fill(isDown ? t.startNode : t.killNode, { number })}
    </button>
  </li>`
}

/**
 * @param {import('../../view.ts').Death} death
 * @param {Record<'moving' | 'moved', string>} t
 */
function sentenceOf({ node, accounts, movedMs }, t) {
  const named = { node, accounts: accounts.join(', ') }
  return movedMs === null ? fill(t.moving, named) : fill(t.moved, { ...named, s: (movedMs / 1000).toFixed(1) })
}
