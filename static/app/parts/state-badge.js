// The state of an instance: a sign, a word and a colour.

import { html } from '../lib/html.js'
import { useTexts } from '../lib/languages.js'
import { texts } from './texts.js'

/** @typedef {'qr_pending' | 'paired' | 'connecting' | 'connected' | 'ready' | 'disconnected' | 'logged_out'} State */

/** @type {Record<State, { kind: 'good' | 'warn' | 'bad', sign: string }>} */
const looks = {
  ready: { kind: 'good', sign: '✓' },
  connected: { kind: 'good', sign: '↻' },
  connecting: { kind: 'warn', sign: '↻' },
  paired: { kind: 'warn', sign: '↻' },
  qr_pending: { kind: 'warn', sign: '▦' },
  disconnected: { kind: 'bad', sign: '!' },
  logged_out: { kind: 'bad', sign: '✕' },
}

/** All states, the best first. */
export const states = /** @type {State[]} */ (Object.keys(looks))

/** @param {State} state */
export function kindOf(state) {
  return looks[state].kind
}

/** @param {{ state: State }} props */
export function StateBadge({ state }) {
  const t = useTexts(texts)
  const { kind, sign } = looks[state]
  return html`<span class=${`badge ${kind}`}><span aria-hidden="true">${sign}</span>${t[state]}</span>`
}
