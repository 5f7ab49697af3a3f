// A running or ended test of a helpdesk.

import { html } from '../../lib/html.js'
import { useTexts } from '../../lib/languages.js'
import { Failure } from '../action-button.js'
import { CheckLines } from '../check-lines.js'
import { useId } from '../../vendor/hooks.js'
import { texts } from './texts.js'

/** @param {{ test: import('./use-test.js').TestState }} props */
export function TestResult({ test: { report, failure, again } }) {
  const t = useTexts(texts)
  const id = useId()
  const isBusy = !report && !failure
  return html`<section aria-labelledby=${id} aria-busy=${isBusy ? 'true' : null}>
    <h3 id=${id}>${t.test}</h3>
    <div aria-live="polite">
      ${isBusy && html`<p class="soft">${t.testing}</p>`} ${report && html`<${CheckLines} checks=${report.checks} />`}
    </div>
    <${Failure} failure=${failure} />
    ${!isBusy && !report?.ok && html`<button type="button" class="quiet" onClick=${again}>${t.testAgain}</button>`}
  </section>`
}
