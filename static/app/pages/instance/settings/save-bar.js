// The button that saves a form, and what came of it.

import { html } from '../../../lib/html.js'
import { useTexts } from '../../../lib/languages.js'
import { Failure } from '../../../parts/action-button.js'
import { texts } from './texts.js'

/** @param {{ isEmpty: boolean, isBusy: boolean, isSaved: boolean, failure: Error | null }} props `isEmpty`: nothing changed */
export function SaveBar({ isEmpty, isBusy, isSaved, failure }) {
  const t = useTexts(texts)
  return html`<${Failure} failure=${failure} />
    <div class="actions">
      <button type="submit" disabled=${isEmpty} aria-busy=${isBusy ? 'true' : null}>
        ${isBusy ? t.saving : t.save}
      </button>
      <p role="status" class="good">${isSaved && `✓ ${t.saved}`}</p>
    </div>`
}
