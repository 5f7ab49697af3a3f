// Asks for the API token. The service answers with a cookie; the page does not keep the token.

import { ApiError, call } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { fill, useTexts } from '../../lib/languages.js'
import { LanguageChoice } from '../../parts/language-choice.js'
import { useState } from '../../vendor/hooks.js'
import { texts } from './texts.js'

/** @param {{ onSignedIn: () => void }} props */
export function SignInPage({ onSignedIn }) {
  const t = useTexts(texts)
  const [failure, setFailure] = useState(/** @type {Error | null} */ (null))
  const [isBusy, setBusy] = useState(false)
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    const form = /** @type {HTMLFormElement} */ (event.currentTarget)
    setBusy(true)
    call('POST', 'session', { token: String(new FormData(form).get('token')) })
      .then(onSignedIn, setFailure)
      .finally(() => setBusy(false))
  }
  return html`<main class="sign-in">
    <h1>Causeway</h1>
    <form onSubmit=${submit}>
      <h2>${t.title}</h2>
      <label>
        ${t.token}
        <input type="password" name="token" autocomplete="current-password" required aria-describedby="token-hint" />
      </label>
      <p id="token-hint" class="hint">${t.hint}</p>
      <p role="alert" class="bad">${failure && sentenceOf(failure, t)}</p>
      <button type="submit" disabled=${isBusy}>${t.submit}</button>
    </form>
    <${LanguageChoice} />
  </main>`
}

/** @param {Error} failure @param {typeof texts.en} t */
function sentenceOf(failure, t) {
  const status = failure instanceof ApiError ? failure.status : 0
  if (status === 401) return t.wrong
  if (status === 429) return t.tooMany
  return fill(t.failed, { reason: failure.message })
}
