// One subscriber: its address, and the events that it wants.

import { html } from '../../../lib/html.js'
import { fill, useTexts } from '../../../lib/languages.js'
import { Field, valueOf } from '../../../parts/field.js'
import { lifecycleEvents } from './lifecycle-events.js'
import { texts } from './texts.js'

/** @typedef {import('../settings/use-draft.js').Subscriber} Subscriber */

/**
 * @param {{
 *   number: number, subscriber: Subscriber, change: (subscriber: Subscriber) => void, remove: () => void,
 * }} props
 */
export function SubscriberFields({ number, subscriber, change, remove }) {
  const t = useTexts(texts)
  const chosen = subscriber.events ?? []
  const toggle = (/** @type {string} */ event) => () => {
    const others = chosen.filter((each) => each !== event)
    change({ ...subscriber, events: chosen.includes(event) ? others : [...chosen, event] })
  }
  return html`<fieldset>
    <legend>${fill(t.subscriber, { number })}</legend>
    <${Field} label=${t.address} hint=${t.addressHint}>
      ${(/** @type {import('../../../parts/field.js').FieldAttributes} */ attributes) =>
        html`<input
          ...${attributes}
          type="url"
          required
          autocomplete="off"
          value=${subscriber.url}
          onInput=${(/** @type {Event} */ event) => change({ ...subscriber, url: valueOf(event) })}
        />`}
    <//>
    <details>
      <summary>
        ${chosen.length === 0 ? t.allEvents : fill(t.someEvents, { count: chosen.length, all: lifecycleEvents.length })}
      </summary>
      <p class="hint">${t.eventsHint}</p>
      <div class="boxes">
        ${lifecycleEvents.map(
          (event) =>
            html`<label key=${event} class="choice">
              <input type="checkbox" checked=${chosen.includes(event)} onChange=${toggle(event)} />
              <code>${event}</code>
            </label>`,
        )}
      </div>
    </details>
    <div class="actions"><button type="button" class="quiet" onClick=${remove}>${t.remove}</button></div>
  </fieldset>`
}
