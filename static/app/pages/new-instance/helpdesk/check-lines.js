// What a test of a helpdesk found: a line for each check, with its cure.

import { html } from '../../../lib/html.js'
import { useTexts } from '../../../lib/languages.js'
import { Failure } from '../../../parts/action-button.js'
import { texts } from './texts.js'

/** @type {Record<string, { kind: string, sign: string }>} */
const looks = {
  ok: { kind: 'good', sign: '✓' },
  advice: { kind: 'warn', sign: '!' },
  broken: { kind: 'bad', sign: '✕' },
  untested: { kind: 'soft', sign: '–' },
}

/** @param {{ checks: readonly import('./use-test.js').Check[] }} props */
export function CheckLines({ checks }) {
  return html`<ul class="checks">
    ${checks.map(({ name, result, sentence, cure }) => {
      const { kind, sign } = looks[result] ?? { kind: 'warn', sign: '!' }
      return html`<li key=${name} class=${kind}>
        <span class="sign" aria-hidden="true">${sign}</span>
        <div>
          <p>${sentence}</p>
          ${cure !== null && html`<p><strong>${cure}</strong></p>`}
        </div>
      </li>`
    })}
  </ul>`
}

/** A running or ended test. @param {{ test: import('./use-test.js').TestState }} props */
export function TestResult({ test: { report, failure, again } }) {
  const t = useTexts(texts)
  const isBusy = !report && !failure
  return html`<section aria-labelledby="test-title" aria-busy=${isBusy ? 'true' : null}>
    <h3 id="test-title">${t.test}</h3>
    <div aria-live="polite">
      ${isBusy && html`<p class="soft">${t.testing}</p>`} ${report && html`<${CheckLines} checks=${report.checks} />`}
    </div>
    <${Failure} failure=${failure} />
    ${!isBusy && !report?.ok && html`<button type="button" class="quiet" onClick=${again}>${t.testAgain}</button>`}
  </section>`
}
