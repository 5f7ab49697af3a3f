// The way through the demo: what is done, and what comes next.

import { html } from '../../../static/app/lib/html.js'
import { useTexts } from '../../../static/app/lib/languages.js'
import { texts } from '../texts.js'

/** @typedef {import('../../view.ts').Snapshot} Snapshot */

/** Texts, and three more. */
const enoughKinds = 4

/** @param {{ snapshot: Snapshot, onOwn: () => void }} props */
export function Steps({ snapshot, onOwn }) {
  const t = useTexts(texts)
  const { story, broken } = snapshot
  const isBroken = Object.values(broken).some(Boolean)
  const done = [
    story.isLinked,
    story.hasReceived,
    story.hasAnswered,
    story.kinds >= enoughKinds,
    story.hasBroken && !isBroken,
    false,
  ]
  const current = done.indexOf(false)
  const names = [t.step1, t.step2, t.step3, t.step4, t.step5, t.step6]
  return html`<ol class="story" aria-label=${t.steps}>
    ${names.map(
      (name, index) =>
        html`<li key=${name} class=${done[index] ? 'done' : ''} aria-current=${index === current ? 'step' : null}>
          <span class="number" aria-hidden="true">${done[index] ? '✓' : index + 1}</span>
          ${index === names.length - 1 ? html`<button type="button" onClick=${onOwn}>${name}</button>` : ` ${name}`}
        </li>`,
    )}
  </ol>`
}
