// Who hears of the lifecycle events of the instance.

import { html } from '../../../lib/html.js'
import { useTexts } from '../../../lib/languages.js'
import { Field, valueOf } from '../../../parts/field.js'
import { Loaded } from '../../../parts/loaded.js'
import { Section } from '../../../parts/section.js'
import { SaveBar } from '../settings/save-bar.js'
import { useDraft } from '../settings/use-draft.js'
import { SubscriberFields } from './subscriber-fields.js'
import { texts } from './texts.js'

/** @typedef {import('../../../parts/field.js').FieldAttributes} FieldAttributes */
/** @typedef {import('../settings/use-draft.js').Settings} Settings */
/** @typedef {import('../settings/use-draft.js').Subscriber} Subscriber */

/** @param {{ name: string, changes: number, onChange: () => void }} props */
export function SubscribersSection(props) {
  const t = useTexts(texts)
  const { loaded, draft, change, save, ...outcome } = useDraft(props)
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    save()
  }
  return html`<${Section} title=${t.title} wide>
    <p class="hint">${t.hint}</p>
    <${Loaded} from=${loaded}>
      ${(/** @type {Settings} */ stored) =>
        html`<form onSubmit=${submit}>
          <${Subscribers} values=${{ ...stored, ...draft }} change=${change} />
          <${SaveBar} isEmpty=${Object.keys(draft).length === 0} ...${outcome} />
        </form>`}
    <//>
  <//>`
}

/** @param {{ values: Settings, change: import('../settings/use-draft.js').Change }} props */
function Subscribers({ values, change }) {
  const t = useTexts(texts)
  const subscribers = values.events_webhook_subscribers
  const set = (/** @type {Subscriber[]} */ list) => {
    change('events_webhook_subscribers', list)
  }
  return html`
    ${subscribers.map(
      (subscriber, index) =>
        html`<${SubscriberFields}
          key=${index}
          number=${index + 1}
          subscriber=${subscriber}
          change=${(/** @type {Subscriber} */ changed) => set(subscribers.with(index, changed))}
          remove=${() => set(subscribers.toSpliced(index, 1))}
        />`,
    )}
    ${
      subscribers.length === 0 &&
      html`<${Field} label=${t.single} hint=${t.singleHint}>
        ${(/** @type {FieldAttributes} */ attributes) =>
          html`<input
            ...${attributes}
            type="url"
            autocomplete="off"
            value=${values.events_webhook_url}
            onInput=${(/** @type {Event} */ event) => change('events_webhook_url', valueOf(event))}
          />`}
      <//>`
    }
    <button type="button" class="quiet" onClick=${() => set([...subscribers, { url: '', events: [] }])}>
      ${t.add}
    </button>
  `
}
