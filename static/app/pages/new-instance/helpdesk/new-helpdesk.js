// Asks for a helpdesk that the service does not know yet, and tests it before it is stored.

import { call, path } from '../../../lib/api.js'
import { html } from '../../../lib/html.js'
import { useTexts } from '../../../lib/languages.js'
import { currentPath, goOn } from '../../../lib/router.js'
import { ActionButton, Failure, useAction } from '../../../parts/action-button.js'
import { CheckLines } from '../../../parts/check-lines.js'
import { useRef, useState } from '../../../vendor/hooks.js'
import { addressOf } from '../steps.js'
import { texts } from './texts.js'

/** @typedef {{ downstream_base_url: string, downstream_api_token: string, downstream_account_id: number }} Access */
/** @typedef {{ tag: string, access: Access, report: import('../../../parts/helpdesk-test/use-test.js').Report }} Tested */

/** @param {{ name: string, tags: readonly string[] }} props */
export function NewHelpdesk({ name, tags }) {
  const t = useTexts(texts)
  const [tested, setTested] = useState(/** @type {Tested | null} */ (null))
  const [tag, setTag] = useState('')
  const edits = useRef(0)
  const { isBusy, failure, run } = useAction()
  const isTaken = tags.includes(tag)
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget))
    const access = readAccess(form)
    if (isTaken) return
    run(async () => {
      setTested(null)
      const asked = edits.current
      const report = /** @type {Tested['report']} */ (await call('POST', 'destinations/test', access))
      if (edits.current === asked) setTested({ tag, access, report })
    })
  }
  // What is saved must be what was tested, and what the fields show.
  const forget = () => {
    edits.current += 1
    setTested(null)
  }
  return html`
    <form onSubmit=${submit} onInput=${forget} class="fields">
      <label>
        ${t.tag}
        <input
          name="tag"
          value=${tag}
          maxlength="128"
          required
          autocomplete="off"
          aria-describedby="tag-hint tag-problem"
          onInput=${(/** @type {Event} */ event) => setTag(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
        />
      </label>
      <p id="tag-hint" class="hint">${t.tagHint}</p>
      <p id="tag-problem" class="bad" aria-live="polite">${isTaken && `✕ ${t.tagTaken}`}</p>
      <label>${t.url}<input name="url" type="url" required placeholder="https://chat.example.com" /></label>
      <label
        >${t.token}<input name="token" type="password" required autocomplete="off" aria-describedby="token-hint"
      /></label>
      <p id="token-hint" class="hint">${t.tokenHint}</p>
      <label>${t.accountId}<input name="account" type="number" min="1" value="1" required /></label>
      <div class="actions">
        <button type="submit" disabled=${isTaken} aria-disabled=${isBusy ? 'true' : null}>
          ${isBusy ? t.testing : t.testNow}
        </button>
      </div>
      <${Failure} failure=${failure} />
    </form>
    <div aria-live="polite">${tested && html`<${CheckLines} checks=${tested.report.checks} />`}</div>
    ${tested?.report.ok && html`<${SaveButton} name=${name} tested=${tested} />`}
  `
}

/** @param {{ name: string, tested: Tested }} props */
function SaveButton({ name, tested: { tag, access } }) {
  const t = useTexts(texts)
  const save = async () => {
    const here = currentPath()
    await call('PUT', path`tenants/${tag}`, access)
    goOn(here, addressOf(name, 'inbox', tag))
  }
  return html`<div class="actions"><${ActionButton} run=${save}>${t.save}<//></div>`
}

/** @param {FormData} form @returns {Access} */
function readAccess(form) {
  return {
    downstream_base_url: String(form.get('url')).trim(),
    downstream_api_token: String(form.get('token')).trim(),
    downstream_account_id: Number(form.get('account')),
  }
}
