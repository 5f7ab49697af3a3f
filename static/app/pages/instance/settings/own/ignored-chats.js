// The chats that are not bridged. They may be numbers of people: what is stored is shown masked.

import { html } from '../../../../lib/html.js'
import { fill, useTexts } from '../../../../lib/languages.js'
import { maskNumbers } from '../../../../lib/mask.js'
import { Field, valueOf } from '../../../../parts/field.js'
import { useState } from '../../../../vendor/hooks.js'
import { texts } from './texts.js'

/** @typedef {import('../../../../parts/field.js').FieldAttributes} FieldAttributes */

/**
 * @param {{
 *   stored: string[] | null, chats: string[] | null, change: (chats: string[] | null) => void,
 * }} props null: as the service
 */
export function IgnoredChats({ stored, chats, change }) {
  const t = useTexts(texts)
  return html`<${Field} label=${t.ignore_jids}>
      ${(/** @type {FieldAttributes} */ attributes) =>
        html`<select
          ...${attributes}
          value=${chats === null ? 'service' : 'own'}
          onChange=${(/** @type {Event} */ event) => change(valueOf(event) === 'own' ? (stored ?? []) : null)}
        >
          <option value="service">${t.asService}</option>
          <option value="own">${t.ownList}</option>
        </select>`}
    <//>
    ${chats !== null && html`<${List} chats=${chats} change=${change} />`}`
}

/** @param {{ chats: string[], change: (chats: string[]) => void }} props */
function List({ chats, change }) {
  const t = useTexts(texts)
  const [typed, setTyped] = useState('')
  const add = () => {
    const chat = typed.trim()
    if (chat !== '' && !chats.includes(chat)) change([...chats, chat])
    setTyped('')
  }
  return html`<ul class="plain entries">
      ${chats.length === 0 && html`<li class="soft">${t.emptyList}</li>`}
      ${chats.map(
        (chat) =>
          html`<li key=${chat}>
            <span>${maskNumbers(chat)}</span>
            <button
              type="button"
              class="quiet"
              aria-label=${fill(t.removeChat, { chat: maskNumbers(chat) })}
              onClick=${() => change(chats.filter((each) => each !== chat))}
            >
              ${t.remove}
            </button>
          </li>`,
      )}
    </ul>
    <${Field} label=${t.addChat} hint=${t.addHint}>
      ${(/** @type {FieldAttributes} */ attributes) =>
        html`<input
          ...${attributes}
          autocomplete="off"
          value=${typed}
          onInput=${(/** @type {Event} */ event) => setTyped(valueOf(event))}
        />`}
    <//>
    <button type="button" class="quiet" onClick=${add}>${t.add}</button>`
}
