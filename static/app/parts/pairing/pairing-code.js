// A code to type on the phone, for those who cannot scan.

import { call, path } from '../../lib/api.js'
import { formatNumber } from '../../lib/format.js'
import { html } from '../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../lib/languages.js'
import { Failure, useAction } from '../action-button.js'
import { useEffect, useState } from '../../vendor/hooks.js'
import { texts } from './texts.js'

/** @param {{ name: string }} props */
export function PairingCode({ name }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const [code, setCode] = useState(/** @type {{ code: string, expires_in_seconds: number } | null} */ (null))
  const { isBusy, failure, run } = useAction()
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    setOver(false)
    const timer = code && setTimeout(() => setOver(true), code.expires_in_seconds * 1000)
    return () => {
      clearTimeout(timer ?? undefined)
    }
  }, [code])
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget))
    const phone = String(form.get('phone')).replaceAll(/[\s().-]/g, '')
    run(async () => {
      setCode(null)
      setCode(await call('POST', path`instances/${name}/pairing-code`, { phone }))
    })
  }
  return html`<details>
    <summary>${t.codeInstead}</summary>
    <form onSubmit=${submit} class="fields">
      <label>
        ${t.phone}
        <input name="phone" type="tel" required autocomplete="off" aria-describedby="phone-hint" />
      </label>
      <p id="phone-hint" class="hint">${t.phoneHint}</p>
      <${Failure} failure=${failure} />
      <div class="actions">
        <button type="submit" class="quiet" aria-disabled=${isBusy ? 'true' : null}>${t.askCode}</button>
      </div>
    </form>
    <div aria-live="polite">
      ${
        code &&
        !isOver &&
        html`<p class="pairing-code"><code>${code.code}</code></p>
          <p>${fill(t.typeCode, { seconds: formatNumber(language, code.expires_in_seconds) })}</p>`
      }
      ${isOver && html`<p>${t.codeOver}</p>`}
    </div>
  </details>`
}
