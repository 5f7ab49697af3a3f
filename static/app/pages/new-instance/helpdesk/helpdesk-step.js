// Asks which helpdesk gets the messages: that of the service, one that is known, or a new one.

import { html } from '../../../lib/html.js'
import { useTexts } from '../../../lib/languages.js'
import { useInstance } from '../../../lib/use-instance.js'
import { useLoad } from '../../../lib/use-load.js'
import { Loaded } from '../../../parts/loaded.js'
import { useState } from '../../../vendor/hooks.js'
import { addressOf, firstAddress } from '../steps.js'
import { texts as wizardTexts } from '../texts.js'
import { NewHelpdesk } from './new-helpdesk.js'
import { TestResult } from '../../../parts/helpdesk-test/test-result.js'
import { texts } from './texts.js'
import { useTest } from '../../../parts/helpdesk-test/use-test.js'

/** @typedef {{ owner_tag: string, downstream_base_url: string, downstream_account_id: number }} Tenant */

/** @param {{ name: string, tag: string | null }} props */
export function HelpdeskStep({ name, tag }) {
  const tenants = useLoad('tenants')
  const instance = useInstance(name)
  return html`<${Loaded} from=${tenants}>
    ${(/** @type {Tenant[]} */ list) =>
      html`<${Loaded} from=${instance}>
        ${(/** @type {NonNullable<typeof instance.data>} */ { row }) =>
          html`<${Choice} name=${name} tenants=${list} first=${tag ?? row?.owner_tag ?? ''} />`}
      <//>`}
  <//>`
}

/** No owner tag has a line break. */
const newOne = '\n'

/** @param {{ name: string, tenants: Tenant[], first: string }} props */
function Choice({ name, tenants, first }) {
  const t = useTexts(texts)
  const tags = tenants.map(({ owner_tag }) => owner_tag)
  const [chosen, setChosen] = useState(tags.includes(first) ? first : '')
  /** @param {string} value @param {string} title @param {string} hint */
  const option = (value, title, hint) =>
    html`<label key=${value} class="choice">
      <input type="radio" name="helpdesk" checked=${chosen === value} onChange=${() => setChosen(value)} />
      <span>${title}<span class="hint">${hint}</span></span>
    </label>`
  return html`
    <h2>${t.title}</h2>
    <fieldset>
      <legend>${t.legend}</legend>
      ${option('', t.standard, t.standardHint)}
      ${tenants.map((tenant) =>
        option(
          tenant.owner_tag,
          tenant.owner_tag,
          `${tenant.downstream_base_url} · ${t.account} ${tenant.downstream_account_id}`,
        ),
      )}
      ${option(newOne, t.newOne, t.newHint)}
    </fieldset>
    ${
      chosen === newOne
        ? html`<${NewHelpdesk} name=${name} tags=${tags} />`
        : html`<${KnownHelpdesk} name=${name} tag=${chosen} />`
    }
  `
}

/** @param {{ name: string, tag: string }} props */
function KnownHelpdesk({ name, tag }) {
  const t = useTexts(wizardTexts)
  const test = useTest(tag)
  return html`
    <${TestResult} test=${test} />
    <div class="actions">
      <a class="button quiet" href=${`#${firstAddress(name)}`}>${t.back}</a>
      ${test.report?.ok && html`<a class="button" href=${`#${addressOf(name, 'inbox', tag)}`}>${t.next}</a>`}
    </div>
  `
}
