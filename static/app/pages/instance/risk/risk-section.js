// How the last minutes of sending look to WhatsApp: three gauges with their thresholds.

import { path } from '../../../lib/api.js'
import { formatNumber } from '../../../lib/format.js'
import { html } from '../../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../../lib/languages.js'
import { useReload } from '../../../lib/use-reload.js'
import { Loaded } from '../../../parts/loaded.js'
import { Section } from '../../../parts/section.js'
import { Gauges } from './gauges.js'
import { texts } from './texts.js'

/** @typedef {import('./gauges.js').BanRisk} BanRisk */

/** @type {Record<BanRisk['level'], { kind: 'good' | 'warn' | 'bad', sign: string }>} */
const looks = {
  ok: { kind: 'good', sign: '✓' },
  low: { kind: 'good', sign: '✓' },
  moderate: { kind: 'warn', sign: '!' },
  high: { kind: 'bad', sign: '✕' },
}

/** @param {{ row: import('../../../lib/use-instance.js').Row }} props */
export function RiskSection({ row }) {
  const t = useTexts(texts)
  const loaded = useReload(path`instances/${row.name}/ban-risk`, `${row.ban_level} ${row.last_out_at}`)
  return html`<${Section} title=${t.title} wide>
    <${Loaded} from=${loaded}>${(/** @type {BanRisk} */ risk) => html`<${Risk} risk=${risk} />`}<//>
    <button type="button" class="quiet" onClick=${loaded.reload}>${t.refresh}</button>
  <//>`
}

/** @param {{ risk: BanRisk }} props */
function Risk({ risk }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const { kind, sign } = looks[risk.level]
  const count = formatNumber(language, risk.first_contacts_24h)
  const limit = formatNumber(language, risk.rate_limit_in_force)
  return html`
    <p role="status">
      <span class=${`badge ${kind}`}><span aria-hidden="true">${sign}</span>${t[risk.level]}</span>
    </p>
    <${Gauges} risk=${risk} />
    <ul class="plain soft">
      <li>${fill(t.firstContacts, { count })}</li>
      <li>${risk.rate_limit_in_force === 0 ? t.noLimit : fill(t.limit, { limit })}</li>
      ${risk.warmup && html`<li>${fill(t.warmup, risk.warmup)}</li>`}
    </ul>
  `
}
