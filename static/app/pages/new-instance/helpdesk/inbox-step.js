// Makes the inbox of the helpdesk, or adopts one. This step creates the instance.

import { ApiError, call, path } from '../../../lib/api.js'
import { html } from '../../../lib/html.js'
import { fill, useTexts } from '../../../lib/languages.js'
import { currentPath, goOn } from '../../../lib/router.js'
import { useInstance } from '../../../lib/use-instance.js'
import { Failure, useAction } from '../../../parts/action-button.js'
import { Loaded } from '../../../parts/loaded.js'
import { Notice } from '../../../parts/notice.js'
import { useState } from '../../../vendor/hooks.js'
import { addressOf } from '../steps.js'
import { texts as wizardTexts } from '../texts.js'
import { TestResult } from '../../../parts/helpdesk-test/test-result.js'
import { texts } from './texts.js'
import { useTest } from '../../../parts/helpdesk-test/use-test.js'

/** @typedef {import('../../../parts/helpdesk-test/use-test.js').FoundInbox} FoundInbox */

/** @param {{ name: string, tag: string | null }} props */
export function InboxStep({ name, tag }) {
  const instance = useInstance(name)
  return html`<${Loaded} from=${instance}>
    ${(/** @type {NonNullable<typeof instance.data>} */ { row }) =>
      html`<${TestedStep} name=${name} tag=${tag ?? row?.owner_tag ?? ''} exists=${row !== undefined} />`}
  <//>`
}

/** @param {{ name: string, tag: string, exists: boolean }} props */
function TestedStep({ name, tag, exists }) {
  const t = useTexts(texts)
  const test = useTest(tag)
  const isGood = test.report?.ok === true
  return html`
    <h2>${t.inboxTitle}</h2>
    <p>${fill(t.inboxOf, { helpdesk: tag === '' ? t.standard : tag })}</p>
    ${!isGood && html`<${TestResult} test=${test} />`}
    ${isGood && html`<${InboxForm} ...${{ name, tag, exists, inboxes: test.report?.inboxes ?? [] }} />`}
  `
}

/** @param {{ name: string, tag: string, exists: boolean, inboxes: readonly FoundInbox[] }} props */
function InboxForm({ name, tag, exists, inboxes }) {
  const t = useTexts(texts)
  const w = useTexts(wizardTexts)
  const [chosen, setChosen] = useState(/** @type {number | null} */ (null))
  const { isBusy, failure, run } = useAction()
  /** The inbox that the last press of a button was about. */
  const [asked, setAsked] = useState(chosen)
  const isTaken = failure instanceof ApiError && failure.code === 'SERVICE_INBOX_TAKEN' && asked === chosen
  /** @param {boolean} force */
  const connect = (force) => async () => {
    const here = currentPath()
    setAsked(chosen)
    // Both requests may be repeated: after a failure the second try finishes what the first one began. An instance that
    // exists is only changed: a POST would also ask it to connect or to pair.
    if (exists) await call('PATCH', path`instances/${name}`, { owner_tag: tag })
    else await call('POST', 'instances', { name, owner_tag: tag })
    await call('POST', path`instances/${name}/inbox`, { ...(chosen !== null && { inbox_id: chosen }), force })
    goOn(here, addressOf(name, 'link', tag))
  }
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    run(connect(false))
  }
  /** @param {number | null} value @param {string} title @param {string} hint */
  const option = (value, title, hint) =>
    html`<label key=${value} class="choice">
      <input type="radio" name="inbox" checked=${chosen === value} onChange=${() => setChosen(value)} />
      <span>${title}<span class="hint">${hint}</span></span>
    </label>`
  return html`<form onSubmit=${submit}>
    <fieldset>
      <legend>${t.inboxLegend}</legend>
      ${option(null, fill(t.makeInbox, { name }), t.makeHint)}
      ${inboxes.map(({ id, name: inbox, used_by: users }) =>
        option(
          id,
          fill(t.adoptInbox, { inbox, id }),
          users.length > 0 ? fill(t.usedBy, { users: users.join(', ') }) : '',
        ),
      )}
    </fieldset>
    ${exists && html`<${Notice} kind="warn"><p>${fill(t.existsAlready, { name })}</p><//>`}
    <${Failure} failure=${failure} />
    <div class="actions">
      <a class="button quiet" href=${`#${addressOf(name, 'helpdesk', tag)}`}>${w.back}</a>
      <button type="submit" aria-disabled=${isBusy ? 'true' : null} aria-busy=${isBusy ? 'true' : null}>
        ${isBusy ? t.connecting : exists ? t.connect : t.create}
      </button>
      ${isTaken && html`<button type="button" class="danger" onClick=${() => run(connect(true))}>${t.takeOver}</button>`}
    </div>
  </form>`
}
