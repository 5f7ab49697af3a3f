// Asks for the API token. The service answers with a cookie; the page does not keep the token.

import { ApiError, call } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useTexts } from '../../lib/languages.js'
import { useAction, useSentence } from '../../parts/action-button.js'
import { LanguageChoice } from '../../parts/language-choice.js'
import { texts } from './texts.js'

/** @param {{ onSignedIn: () => void }} props */
export function SignInPage({ onSignedIn }) {
  const t = useTexts(texts)
  const { isBusy, failure, run } = useAction()
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    const form = /** @type {HTMLFormElement} */ (event.currentTarget)
    run(async () => {
      await call('POST', 'session', { token: String(new FormData(form).get('token')) })
      onSignedIn()
    })
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
      <${Refusal} failure=${failure} />
      <button type="submit" aria-disabled=${isBusy ? 'true' : null}>${t.submit}</button>
    </form>
    <${LanguageChoice} />
  </main>`
}

/** @param {{ failure: Error | null }} props */
function Refusal({ failure }) {
  const t = useTexts(texts)
  const sentenceOf = useSentence()
  const status = failure instanceof ApiError ? failure.status : 0
  /** @type {Record<number, string>} */
  const known = { 401: t.wrong, 429: t.tooMany }
  return html`<p role="alert" class="bad">${failure && (known[status] ?? sentenceOf(failure))}</p>`
}
