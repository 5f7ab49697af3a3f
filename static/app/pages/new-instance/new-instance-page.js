// The wizard for a new instance: name, helpdesk, inbox, phone, first messages. Only the named buttons create something.

import { html } from '../../lib/html.js'
import { useTexts } from '../../lib/languages.js'
import { HelpdeskStep } from './helpdesk/helpdesk-step.js'
import { InboxStep } from './helpdesk/inbox-step.js'
import { LinkStep } from './link/link-step.js'
import { TryStep } from './link/try-step.js'
import { NameStep } from './name-step.js'
import { addressOf, chosenTag, firstAddress, isStep, steps } from './steps.js'
import { texts } from './texts.js'

const views = { helpdesk: HelpdeskStep, inbox: InboxStep, link: LinkStep, try: TryStep }

/** @param {{ params: Record<string, string> }} props */
export function Page({ params: { name, step = '' } }) {
  const t = useTexts(texts)
  const current = name !== undefined && isStep(step) ? step : null
  return html`
    <h1>${name === undefined ? t.title : `${t.title}: ${name}`}</h1>
    <${StepList} name=${name} current=${current} />
    <div class="card wizard">
      ${
        current === null
          ? html`<${NameStep} first=${name ?? ''} />`
          : html`<${views[current]} name=${name} tag=${chosenTag()} />`
      }
    </div>
  `
}

/** @param {{ name: string | undefined, current: import('./steps.js').Step | null }} props */
function StepList({ name, current }) {
  const t = useTexts(texts)
  const at = current === null ? 0 : steps.indexOf(current) + 1
  const all = [
    { title: t.step_name, address: firstAddress(name) },
    ...steps.map((step) => ({ title: t[`step_${step}`], address: addressOf(name ?? '', step, chosenTag()) })),
  ]
  return html`<nav aria-label=${t.steps}>
    <ol class="steps">
      ${all.map(({ title, address }, index) => {
        const isDone = index < at
        const text = html`<span aria-hidden="true">${isDone ? '✓' : index + 1}</span> ${title}`
        return html`<li key=${title} class=${isDone ? 'done' : ''} aria-current=${index === at ? 'step' : null}>
          ${isDone ? html`<a href=${`#${address}`}>${text}</a>` : text}
        </li>`
      })}
    </ol>
  </nav>`
}
