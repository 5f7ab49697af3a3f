// A sentence that stands out, with a sign beside its colour.

import { html } from '../lib/html.js'

/** @typedef {'good' | 'warn' | 'bad'} NoticeKind */

/** @type {Record<NoticeKind, string>} */
const signs = { good: '✓', warn: '!', bad: '✕' }

/**
 * @param {{
 *   kind: NoticeKind,
 *   role?: 'alert' | 'status',
 *   children: import('../lib/html.js').Children,
 * }} props `role` for a notice that appears after something was done
 */
export function Notice({ kind, role, children }) {
  return html`<div class=${`notice signed ${kind}`} role=${role}>
    <span class="sign" aria-hidden="true">${signs[kind]}</span>
    <div>${children}</div>
  </div>`
}
