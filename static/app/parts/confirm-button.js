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
  const wasAsking = useRef(isAsking)
  const place = useRef(/** @type {HTMLElement | null} */ (null))
  useEffect(() => {
    // The button that had the focus is gone.
    if (isAsking !== wasAsking.current) place.current?.querySelector('button')?.focus()
    wasAsking.current = isAsking
  }, [isAsking])
  const ask = (/** @type {boolean} */ value) => () => {
    setAsking(value)
  }
  return html`<span ref=${place} class="question">
    ${
      isAsking
        ? html`<${ActionButton} run=${run} kind="danger">${confirm}<//>
            <button type="button" class="quiet" onClick=${ask(false)}>${t.cancel}</button>`
        : html`<button type="button" class="quiet" onClick=${ask(true)}>${children}</button>`
    }
  </span>`
}
