// Chooses the language of the pages.

import { html } from '../lib/html.js'
import { LanguageContext, languages, useTexts } from '../lib/languages.js'
import { texts } from '../shell/texts.js'
import { useContext } from '../vendor/hooks.js'

export function LanguageChoice() {
  const t = useTexts(texts)
  const { language, choose } = useContext(LanguageContext)
  const change = (/** @type {Event} */ event) => {
    choose(/** @type {typeof language} */ (/** @type {HTMLSelectElement} */ (event.currentTarget).value))
  }
  return html`<label class="language">
    <span class="hidden">${t.language}</span>
    <select value=${language} onChange=${change}>
      ${Object.entries(languages).map(
        ([value, name]) => html`<option key=${value} value=${value} lang=${value}>${name}</option>`,
      )}
    </select>
  </label>`
}
