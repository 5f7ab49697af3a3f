// Tests a helpdesk when the visitor asks for it, and shows what was found.

import { html } from '../../../lib/html.js'
import { useTexts } from '../../../lib/languages.js'
import { TestResult } from '../../../parts/helpdesk-test/test-result.js'
import { useTest } from '../../../parts/helpdesk-test/use-test.js'
import { useState } from '../../../vendor/hooks.js'
import { texts } from './texts.js'

/** @param {{ tag: string, isTestedAtOnce?: boolean }} props `tag` is empty for the helpdesk of the settings */
export function TestButton({ tag, isTestedAtOnce = false }) {
  const t = useTexts(texts)
  const [isAsked, setAsked] = useState(isTestedAtOnce)
  if (isAsked) return html`<${Test} tag=${tag} />`
  return html`<button type="button" class="quiet" onClick=${() => setAsked(true)}>${t.testNow}</button>`
}

/** @param {{ tag: string }} props */
function Test({ tag }) {
  return html`<${TestResult} test=${useTest(tag)} />`
}
