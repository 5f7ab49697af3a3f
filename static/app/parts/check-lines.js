// What checks found: a line for each, with its cure.

import { html } from '../lib/html.js'

/** @typedef {{ name: string, ok: boolean, result: string, sentence: string, cure: string | null }} Check */

/** @type {Record<string, { kind: string, sign: string }>} */
const looks = {
  ok: { kind: 'good', sign: '✓' },
  advice: { kind: 'warn', sign: '!' },
  broken: { kind: 'bad', sign: '✕' },
  untested: { kind: 'soft', sign: '–' },
}

/** @param {{ checks: readonly Check[] }} props */
export function CheckLines({ checks }) {
  return html`<ul class="checks">
    ${checks.map(({ name, result, sentence, cure }) => {
      const { kind, sign } = looks[result] ?? { kind: 'warn', sign: '!' }
      return html`<li key=${name} class=${kind}>
        <span class="sign" aria-hidden="true">${sign}</span>
        <div>
          <p class="sentence">${sentence}</p>
          ${cure !== null && html`<p class="sentence"><strong>${cure}</strong></p>`}
        </div>
      </li>`
    })}
  </ul>`
}
