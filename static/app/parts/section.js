// A part of a page with a heading. A part that fails leaves the others.

import { html } from '../lib/html.js'
import { fill, useTexts } from '../lib/languages.js'
import { texts } from '../shell/texts.js'
import { useErrorBoundary, useId } from '../vendor/hooks.js'

/** @param {{ title: string, wide?: boolean, children: import('../lib/html.js').Children }} props */
export function Section({ title, wide = false, children }) {
  const t = useTexts(texts)
  const id = useId()
  const [error] = useErrorBoundary()
  return html`<section class=${wide ? 'card wide' : 'card'} aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${error ? html`<p role="alert" class="bad">${fill(t.failed, { reason: String(error) })}</p>` : children}
  </section>`
}
