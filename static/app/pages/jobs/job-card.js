// One job: its status, a bar for its progress, and its counts when it has ended.

import { call, path } from '../../lib/api.js'
import { formatNumber, formatTime } from '../../lib/format.js'
import { html } from '../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../lib/languages.js'
import { maskNumbers } from '../../lib/mask.js'
import { Ago } from '../../parts/ago.js'
import { ConfirmButton } from '../../parts/confirm-button.js'
import { useId } from '../../vendor/hooks.js'
import { texts } from './texts.js'
import { hasEnded } from './use-jobs.js'

/** @typedef {import('./use-jobs.js').Job} Job */

/** @type {Record<import('./use-jobs.js').Status, { kind: string, sign: string }>} */
const looks = {
  pending: { kind: 'warn', sign: '…' },
  running: { kind: 'warn', sign: '↻' },
  completed: { kind: 'good', sign: '✓' },
  failed: { kind: 'bad', sign: '✕' },
  cancelled: { kind: 'warn', sign: '–' },
}

/** @param {{ job: Job, onChange: () => void }} props */
export function JobCard({ job, onChange }) {
  const t = useTexts(texts)
  const { id, type, instance, status, dry_run: isDry, error, result, created_at: createdAt, ended_at: endedAt } = job
  const { kind, sign } = looks[status]
  const title = /** @type {Record<string, string>} */ (t)[`type_${type}`] ?? type
  const cancel = async () => {
    await call('DELETE', path`jobs/${id}`)
    onChange()
  }
  return html`<article class="card job">
    <h2>${title}</h2>
    <p>
      <a href=${`#/instances/${encodeURIComponent(instance)}`}>${instance}</a>
      ${' '}<span class=${`badge ${kind}`}><span aria-hidden="true">${sign}</span>${t[status]}</span>
    </p>
    ${isDry && html`<p>${t.dryRun}</p>`} ${!hasEnded(status) && html`<${Progress} job=${job} title=${title} />`}
    ${error !== null && html`<p class="bad">✕ ${maskNumbers(error)}</p>`}
    <p class="soft">
      ${endedAt === null ? html`${t.created} <${Ago} at=${createdAt} />` : html`${t.ended} <${Ago} at=${endedAt} />`}
    </p>
    ${result && html`<${Counts} result=${result} />`}
    ${!hasEnded(status) && html`<${ConfirmButton} run=${cancel} confirm=${t.cancelNow}>${t.cancel}<//>`}
  </article>`
}

/** @param {{ job: Job, title: string }} props */
function Progress({ job: { instance, progress }, title }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const id = useId()
  const { done, total, errors, estimated_end_at: end } = progress
  const write = (/** @type {number} */ value) => formatNumber(language, value)
  // The bar of a job whose size is not known yet has no value.
  const value = total > 0 ? { value: done, max: total } : {}
  return html`<div>
    <progress ...${value} aria-label=${`${title}: ${instance}`} aria-describedby=${id} />
    <p id=${id} class="soft">
      ${total > 0 ? fill(t.progress, { done: write(done), total: write(total) }) : t.begins}
      ${errors > 0 && html`<span class="bad">${' · '}✕ ${fill(t.errors, { errors: write(errors) })}</span>`}
      ${end !== null && ` · ${fill(t.ends, { time: formatTime(language, end) })}`}
    </p>
  </div>`
}

/** The counts of the result that are not zero. @param {{ result: Record<string, unknown> }} props */
function Counts({ result }) {
  const t = /** @type {Record<string, string>} */ (useTexts(texts))
  const language = useLanguage()
  const counts = Object.entries(result).flatMap(([name, value]) => {
    return typeof value === 'number' && value > 0 ? [[name, formatNumber(language, value)]] : []
  })
  if (counts.length === 0) return html`<p>${t['nothing']}</p>`
  return html`<dl class="facts">
    ${counts.map(
      ([name, value]) =>
        html`<div key=${name}>
          <dt>${t[`count_${name}`] ?? name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`
}
