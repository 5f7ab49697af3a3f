// The jobs of all instances: how far they are, what became of them, and a button that cancels.

import { html } from '../../lib/html.js'
import { fill, useTexts } from '../../lib/languages.js'
import { Loaded } from '../../parts/loaded.js'
import { JobCard } from './job-card.js'
import { texts } from './texts.js'
import { useJobs } from './use-jobs.js'

/** @typedef {import('./use-jobs.js').Job} Job */

export function Page() {
  const t = useTexts(texts)
  const jobs = useJobs()
  return html`
    <h1>${t.title}</h1>
    <p class="soft">${t.hint}</p>
    <${Loaded} from=${jobs}>
      ${(/** @type {Job[]} */ list) => html`<${JobList} jobs=${list} onChange=${jobs.reload} />`}
    <//>
  `
}

/** @param {{ jobs: readonly Job[], onChange: () => void }} props */
function JobList({ jobs, onChange }) {
  const t = useTexts(texts)
  const count = (/** @type {Job['status']} */ wanted) => jobs.filter(({ status }) => status === wanted).length
  return html`
    <p role="status">
      ${
        jobs.length === 0
          ? t.none
          : fill(t.totals, { running: count('running'), pending: count('pending'), failed: count('failed') })
      }
    </p>
    <ul class="cards wider">
      ${jobs.map((job) => html`<li key=${job.id}><${JobCard} job=${job} onChange=${onChange} /></li>`)}
    </ul>
  `
}
