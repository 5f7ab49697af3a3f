// The settings of the instance. A setting that the service also has can be left to the service.

import { html } from '../../../lib/html.js'
import { useTexts } from '../../../lib/languages.js'
import { Loaded } from '../../../parts/loaded.js'
import { Section } from '../../../parts/section.js'
import { HistoryFields } from './history-fields.js'
import { OwnFields } from './own/own-fields.js'
import { RouteFields } from './route-fields.js'
import { SaveBar } from './save-bar.js'
import { texts } from './texts.js'
import { useDraft } from './use-draft.js'

/** @typedef {import('./use-draft.js').Settings} Settings */

/** @param {{ name: string, changes: number, onChange: () => void }} props */
export function SettingsSection(props) {
  const t = useTexts(texts)
  const { loaded, draft, change, save, ...outcome } = useDraft(props)
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    save()
  }
  return html`<${Section} title=${t.title} wide>
    <${Loaded} from=${loaded}>
      ${(/** @type {Settings} */ stored) => {
        const values = { ...stored, ...draft }
        return html`<form onSubmit=${submit}>
          <div class="columns">
            <div>
              <${RouteFields} stored=${stored} draft=${draft} change=${change} />
              <${HistoryFields} history=${values.history} change=${change} />
            </div>
            <${OwnFields} stored=${stored} values=${values} change=${change} />
          </div>
          <${SaveBar} isEmpty=${Object.keys(draft).length === 0} ...${outcome} />
        </form>`
      }}
    <//>
  <//>`
}
