// Asks for the name of the new instance, and says at once if it cannot be used.

import { html } from '../../lib/html.js'
import { fill, useTexts } from '../../lib/languages.js'
import { goTo } from '../../lib/router.js'
import { useLoad } from '../../lib/use-load.js'
import { Loaded } from '../../parts/loaded.js'
import { useState } from '../../vendor/hooks.js'
import { isInstanceName } from './instance-name.js'
import { addressOf } from './steps.js'
import { texts } from './texts.js'

/** @typedef {{ name: string }[]} Instances */

/** @param {{ first: string }} props the name that the address holds */
export function NameStep({ first }) {
  const instances = useLoad('instances')
  return html`<${Loaded} from=${instances}>
    ${(/** @type {Instances} */ list) => html`<${NameForm} first=${first} instances=${list} />`}
  <//>`
}

/** @param {{ first: string, instances: Instances }} props */
function NameForm({ first, instances }) {
  const t = useTexts(texts)
  const [name, setName] = useState(first)
  const taken = instances.find((each) => each.name === name)
  const isGood = isInstanceName(name) && !taken
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    if (isGood) goTo(addressOf(name, 'helpdesk'))
  }
  const type = (/** @type {Event} */ event) => {
    setName(/** @type {HTMLInputElement} */ (event.currentTarget).value)
  }
  return html`<form onSubmit=${submit}>
    <h2>${t.nameTitle}</h2>
    <label>
      ${t.name}
      <input
        name="name"
        value=${name}
        onInput=${type}
        autocomplete="off"
        autocapitalize="none"
        spellcheck=${false}
        required
        aria-invalid=${name !== '' && !isGood ? 'true' : null}
        aria-describedby="name-hint name-problem"
      />
    </label>
    <p id="name-hint" class="hint">${t.nameHint}</p>
    <p id="name-problem" class="bad" aria-live="polite">
      ${name !== '' && !isInstanceName(name) && `✕ ${t.nameWrong}`} ${taken && `✕ ${fill(t.nameTaken, { name })}`}
    </p>
    ${taken && html`<p><a href=${`#${addressOf(name, 'link')}`}>${fill(t.nameLink, { name })}</a></p>`}
    <div class="actions"><button type="submit" disabled=${!isGood}>${t.next}</button></div>
  </form>`
}
