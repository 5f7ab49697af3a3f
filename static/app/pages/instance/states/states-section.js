// How the state changed during the last 24 hours.

import { path } from '../../../lib/api.js'
import { formatNumber } from '../../../lib/format.js'
import { html } from '../../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../../lib/languages.js'
import { useReload } from '../../../lib/use-reload.js'
import { Loaded } from '../../../parts/loaded.js'
import { Section } from '../../../parts/section.js'
import { readyShare, spansOf } from './spans.js'
import { StripChart } from './strip-chart.js'
import { texts } from './texts.js'

/** @param {{ row: import('../../../lib/use-instance.js').Row }} props */
export function StatesSection({ row: { name, state } }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const loaded = useReload(path`instances/${name}/states?hours=24`, state)
  return html`<${Section} title=${t.title} wide>
    <${Loaded} from=${loaded}>
      ${(/** @type {import('./spans.js').StateHistory} */ history) => {
        const share = readyShare(spansOf(history))
        const percent = formatNumber(language, share ?? 0, { style: 'percent', maximumFractionDigits: 1 })
        return html`<${StripChart} caption=${t.title} history=${history} />
          ${share !== null && html`<p class="soft">${fill(t.share, { percent })}</p>`}`
      }}
    <//>
  <//>`
}
