// Shows what was loaded, or that it loads, or why it could not be loaded.

import { html } from '../lib/html.js'
import { fill, useTexts } from '../lib/languages.js'
import { texts } from '../shell/texts.js'
import { useSentence } from './action-button.js'

/**
 * @template T
 * @param {{ from: import('../lib/use-load.js').Loaded<T>, children: (data: T) => import('../lib/html.js').Children }} props
 */
export function Loaded({ from: { data, error, reload }, children }) {
  const t = useTexts(texts)
  const sentenceOf = useSentence()
  return html`
    ${
      error &&
      html`<div class="notice bad" role="alert">
        <p>${fill(t.failed, { reason: sentenceOf(error) })}</p>
        <button type="button" onClick=${reload}>${t.again}</button>
      </div>`
    }
    ${data === null ? !error && html`<p aria-busy="true">${t.loading}</p>` : children(data)}
  `
}
