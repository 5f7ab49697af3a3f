// The way from the demo to the visitor's own phone and Chatwoot.

import { html } from '../../../static/app/lib/html.js'
import { useTexts } from '../../../static/app/lib/languages.js'
import { useEffect, useRef } from '../../../static/app/vendor/hooks.js'
import { texts } from '../texts.js'

const wizard = '/static/index.html#/new-instance'
/** The address of a service that is started with the settings of the README. */
const ownWizard = `http://127.0.0.1:3100${wizard}`

/** @param {{ bridgeUrl: string, onClose: () => void }} props */
export function OwnPhone({ bridgeUrl, onClose }) {
  const t = useTexts(texts)
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null))
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  return html`<dialog ref=${dialog} aria-labelledby="own-title" onClose=${onClose}>
    <h2 id="own-title">${t.ownTitle}</h2>
    <p>${t.ownLead}</p>
    <ol>
      <li>
        <p>${t.ownStep1}</p>
        <pre tabindex="0">npm start</pre>
      </li>
      <li>
        <p>${t.ownStep2}</p>
        <p><a href=${ownWizard} target="_blank" rel="noreferrer">${ownWizard}</a></p>
      </li>
      <li>
        <p>${t.ownStep3}</p>
        <pre tabindex="0">npm run link -- shop --inbox</pre>
      </li>
    </ol>
    <p><a href=${bridgeUrl + wizard} target="_blank" rel="noreferrer">${t.ownLook}</a></p>
    <form method="dialog" class="actions"><button type="submit">${t.close}</button></form>
  </dialog>`
}
