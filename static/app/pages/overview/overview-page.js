// The first page: what needs the operator, and every instance.

import { formatNumber } from '../../lib/format.js'
import { html } from '../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../lib/languages.js'
import { Loaded } from '../../parts/loaded.js'
import { useEffect, useState } from '../../vendor/hooks.js'
import { InstanceList } from './instance-list.js'
import { NeedsYou } from './needs-you.js'
import { texts } from './texts.js'
import { useOverview } from './use-overview.js'

/** @typedef {import('./row-store.js').RowStore} RowStore */

export function Page() {
  const t = useTexts(texts)
  const { store, needs } = useOverview()
  return html`
    <div class="title">
      <h1>${t.title}</h1>
      <a class="button" href="#/new-instance">${t.newInstance}</a>
    </div>
    <${Loaded} from=${needs}>
      ${(/** @type {import('./use-overview.js').Need[]} */ list) => html`
        <${NeedsYou} needs=${list} />
        <section aria-labelledby="instances">
          <h2 id="instances">${t.instances}</h2>
          <${Totals} store=${store} />
          <${InstanceList} store=${store} />
        </section>
      `}
    <//>
  `
}

/** @param {{ store: RowStore }} props */
function Totals({ store }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const [, count] = useState(0)
  useEffect(() => store.onAny(() => count((before) => before + 1)), [store])
  const sum = (/** @type {(row: import('./row-store.js').Row) => number} */ value) =>
    formatNumber(language, store.sum(value))
  return html`<p class="soft">
    ${fill(t.totals, {
      ready: sum(({ state }) => (state === 'ready' ? 1 : 0)),
      all: sum(() => 1),
      outbox: sum((row) => row.outbox_pending),
      inbox: sum((row) => row.inbox_pending),
      parked: sum((row) => row.parked),
    })}
  </p>`
}
