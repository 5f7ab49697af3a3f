// The settings that the service also has. Null means: as the service.

import { html } from '../../../../lib/html.js'
import { useTexts } from '../../../../lib/languages.js'
import { Field, valueOf } from '../../../../parts/field.js'
import { IgnoredChats } from './ignored-chats.js'
import { texts } from './texts.js'

/** @typedef {import('../../../../parts/field.js').FieldAttributes} FieldAttributes */
/** @typedef {import('../use-draft.js').Change} Change */
/** @typedef {import('../use-draft.js').Settings} Settings */
/** @typedef {keyof typeof texts.en} OwnText */

/** What can be chosen, with the words for it. @type {readonly [OwnText, readonly [string | boolean, OwnText][]][]} */
const choices = [
  [
    'conversation_mode',
    [
      ['new', 'newConversation'],
      ['reopen', 'reopenConversation'],
    ],
  ],
  [
    'new_conversation_status',
    [
      ['open', 'open'],
      ['pending', 'pending'],
    ],
  ],
  [
    'quote_style',
    [
      ['both', 'both'],
      ['bubble', 'bubble'],
      ['text', 'text'],
    ],
  ],
  [
    'locale',
    [
      ['en', 'en'],
      ['es', 'es'],
      ['pt', 'pt'],
    ],
  ],
  [
    'sign_messages',
    [
      [true, 'yes'],
      [false, 'no'],
    ],
  ],
  [
    'reject_calls',
    [
      [true, 'yes'],
      [false, 'no'],
    ],
  ],
]

/** @param {{ stored: Settings, values: Settings, change: Change }} props */
export function OwnFields({ stored, values, change }) {
  const t = useTexts(texts)
  return html`<div>
    ${choices.map(
      ([field, options]) =>
        html`<${Field} key=${field} label=${t[field]}>
          ${(/** @type {FieldAttributes} */ attributes) =>
            html`<select
              ...${attributes}
              value=${JSON.stringify(values[field] ?? null)}
              onChange=${(/** @type {Event} */ event) => change(field, JSON.parse(valueOf(event)))}
            >
              <option value="null">${t.asService}</option>
              ${options.map(
                ([value, word]) => html`<option key=${word} value=${JSON.stringify(value)}>${t[word]}</option>`,
              )}
            </select>`}
        <//>`,
    )}
    <${Field} label=${t.header_template} hint=${t.headerHint}>
      ${(/** @type {FieldAttributes} */ attributes) =>
        html`<input
          ...${attributes}
          autocomplete="off"
          placeholder=${t.asService}
          value=${values.header_template ?? ''}
          onInput=${(/** @type {Event} */ event) => change('header_template', valueOf(event) || null)}
        />`}
    <//>
    <${IgnoredChats}
      stored=${stored.ignore_jids}
      chats=${values.ignore_jids}
      change=${(/** @type {string[] | null} */ chats) => change('ignore_jids', chats)}
    />
  </div>`
}
