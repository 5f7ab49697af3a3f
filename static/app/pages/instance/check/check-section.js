// Whether the set-up is right: what is wrong comes first, with its cure.

import { call, path } from '../../../lib/api.js'
import { html } from '../../../lib/html.js'
import { fill, useTexts } from '../../../lib/languages.js'
import { useLoad } from '../../../lib/use-load.js'
import { ActionButton } from '../../../parts/action-button.js'
import { CheckLines } from '../../../parts/check-lines.js'
import { Loaded } from '../../../parts/loaded.js'
import { Section } from '../../../parts/section.js'
import { useState } from '../../../vendor/hooks.js'
import { texts } from './texts.js'

/** @typedef {{ ok: boolean, checks: import('../../../parts/check-lines.js').Check[] }} Report */

/** @param {{ name: string }} props */
export function CheckSection({ name }) {
  const t = useTexts(texts)
  const target = path`instances/${name}/check`
  const loaded = useLoad(target)
  const [tested, setTested] = useState(/** @type {Report | null} */ (null))
  const testRoundTrip = async () => {
    setTested(await call('POST', target))
  }
  return html`<${Section} title=${t.title}>
    <${Loaded} from=${loaded}>
      ${(/** @type {Report} */ report) => html`<div aria-live="polite"><${Checks} report=${tested ?? report} /></div>`}
    <//>
    <${ActionButton} kind="quiet" run=${testRoundTrip}>${t.roundTrip}<//>
    <p class="hint">${t.roundTripHint}</p>
  <//>`
}

/** @param {{ report: Report }} props */
function Checks({ report: { checks } }) {
  const t = useTexts(texts)
  const open = checks.filter(({ result }) => result !== 'ok')
  const fine = checks.filter(({ result }) => result === 'ok')
  return html`
    ${open.length === 0 ? html`<p class="good">✓ ${t.allFine}</p>` : html`<${CheckLines} checks=${open} />`}
    <details>
      <summary>${fill(t.fine, { count: fine.length })}</summary>
      <${CheckLines} checks=${fine} />
    </details>
  `
}
