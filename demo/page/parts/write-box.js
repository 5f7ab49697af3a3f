// A field for a text and the button that sends it.

import { html } from '../../../static/app/lib/html.js'
import { useTexts } from '../../../static/app/lib/languages.js'
import { useRef } from '../../../static/app/vendor/hooks.js'
import { texts } from '../texts.js'

/**
 * @param {{ label: string, isDisabled: boolean, onSend: (text: string) => void, onTyping?: (isTyping: boolean) => void }} props
 */
export function WriteBox({ label, isDisabled, onSend, onTyping }) {
  const t = useTexts(texts)
  const field = useRef(/** @type {HTMLInputElement | null} */ (null))
  const isTyping = useRef(false)
  const tell = (/** @type {boolean} */ value) => {
    if (isTyping.current === value) return
    isTyping.current = value
    onTyping?.(value)
  }
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    const text = field.current?.value.trim() ?? ''
    if (!field.current || text === '') return
    field.current.value = ''
    tell(false)
    onSend(text)
  }
  return html`<form class="write" onSubmit=${submit}>
    <label class="hidden" for=${label}>${label}</label>
    <input
      id=${label}
      ref=${field}
      placeholder=${label}
      autocomplete="off"
      maxlength="2000"
      disabled=${isDisabled}
      onInput=${() => tell((field.current?.value ?? '') !== '')}
    />
    <button type="submit" disabled=${isDisabled} aria-label=${t.send} title=${t.send}>➤</button>
  </form>`
}
