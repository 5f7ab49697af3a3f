// A field of a form: its label, the input and a hint that screen readers read with it.

import { html } from '../lib/html.js'
import { useId } from '../vendor/hooks.js'

/** @typedef {{ id: string, 'aria-describedby': string | null }} FieldAttributes */

/**
 * @param {{
 *   label: string,
 *   hint?: string,
 *   children: (attributes: FieldAttributes) => import('../lib/html.js').Children,
 * }} props the child makes the input and puts the attributes on it
 */
export function Field({ label, hint, children }) {
  const id = useId()
  const hintId = `${id}-hint`
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children({ id, 'aria-describedby': hint === undefined ? null : hintId })}
    ${hint !== undefined && html`<p id=${hintId} class="hint">${hint}</p>`}
  </div>`
}

/** The value of the input that an event is about. @param {Event} event */
export function valueOf(event) {
  return /** @type {HTMLInputElement | HTMLSelectElement} */ (event.currentTarget).value
}
