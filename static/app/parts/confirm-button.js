// A button for something that cannot be undone: the first press asks, the second does it.

import { html } from '../lib/html.js'
import { useTexts } from '../lib/languages.js'
import { texts } from '../shell/texts.js'
import { useEffect, useRef, useState } from '../vendor/hooks.js'
import { ActionButton } from './action-button.js'

/**
 * @param {{
 *   run: () => Promise<unknown>,
 *   confirm: string,
 *   children: import('../lib/html.js').Children,
 * }} props `confirm` is what the second press does
 */
export function ConfirmButton({ run, confirm, children }) {
  const t = useTexts(texts)
  const [isAsking, setAsking] = useState(false)
  const place = useRef(/** @type {HTMLElement | null} */ (null))
  const wasPressed = useRef(false)
  useEffect(() => {
    // The button that was pressed is gone: the one in its place gets the focus.
    if (wasPressed.current) place.current?.querySelector('button')?.focus()
  }, [isAsking])
  const ask = (/** @type {boolean} */ value) => () => {
    wasPressed.current = true
    setAsking(value)
  }
  if (!isAsking) {
    return html`<span ref=${place}><button type="button" class="quiet" onClick=${ask(true)}>${children}</button></span>`
  }
  return html`<span ref=${place} class="question">
    <${ActionButton} run=${run} kind="danger">${confirm}<//>
    <button type="button" class="quiet" onClick=${ask(false)}>${t.cancel}</button>
  </span>`
}
