// The instances that no node opens, each with a button that lets a node open it again.

import { call, path } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { fill, useTexts } from '../../lib/languages.js'
import { ActionButton } from '../../parts/action-button.js'
import { Section } from '../../parts/section.js'
import { useState } from '../../vendor/hooks.js'
import { texts } from './texts.js'

/** @param {{ names: readonly string[], onChange: () => void }} props */
export function Quarantine({ names, onChange }) {
  const t = useTexts(texts)
  const [done, setDone] = useState('')
  const restart = (/** @type {string} */ name) => async () => {
    await call('POST', path`instances/${name}/restart`)
    setDone(fill(t.restarted, { name }))
    onChange()
  }
  return html`
    ${
      names.length > 0 &&
      html`<${Section} title=${t.quarantine} wide>
        <p>${t.quarantineHint}</p>
        <ul class="checks quarantine">
          ${names.map(
            (name) =>
              html`<li key=${name}>
                <span class="sign bad" aria-hidden="true">✕</span>
                <a href=${`#/instances/${encodeURIComponent(name)}`}>${name}</a>
                <${ActionButton} run=${restart(name)} kind="quiet">
                  <span aria-hidden="true">${t.restart}</span>
                  <span class="hidden">${fill(t.restartOf, { name })}</span>
                <//>
              </li>`,
          )}
        </ul>
      <//>`
    }
    <p role="status">${done}</p>
  `
}
