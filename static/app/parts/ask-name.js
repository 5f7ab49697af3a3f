// A dialog that asks for a name before something that cannot be undone.

import { html } from '../lib/html.js'
import { fill, useTexts } from '../lib/languages.js'
import { texts } from '../shell/texts.js'
import { useEffect, useRef, useState } from '../vendor/hooks.js'

/**
 * @param {{
 *   name: string, title: string, consequence: string, confirm: string, onConfirm: () => void, onCancel: () => void
 * }} props
 */
export function AskName({ name, title, consequence, confirm, onConfirm, onCancel }) {
  const t = useTexts(texts)
  const [typed, setTyped] = useState('')
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null))
  useEffect(() => {
    const before = document.activeElement
    const shown = dialog.current
    shown?.showModal()
    // The dialog is removed, and only one that is closed gives the focus back by itself.
    return () => {
      shown?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    if (typed === name) onConfirm()
  }
  return html`<dialog ref=${dialog} aria-labelledby="ask-title" aria-describedby="ask-consequence" onCancel=${onCancel}>
    <form onSubmit=${submit}>
      <h2 id="ask-title">${title}</h2>
      <p id="ask-consequence">${consequence}</p>
      <label>
        ${fill(t.askName, { name })}
        <input
          autocomplete="off"
          value=${typed}
          onInput=${(/** @type {InputEvent} */ { currentTarget }) => {
            setTyped(/** @type {HTMLInputElement} */ (currentTarget).value)
          }}
        />
      </label>
      <div class="actions">
        <button type="button" class="quiet" onClick=${onCancel}>${t.cancel}</button>
        <button type="submit" class="danger" disabled=${typed !== name}>${confirm}</button>
      </div>
    </form>
  </dialog>`
}
