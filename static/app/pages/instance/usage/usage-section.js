// The messages of the last 30 days.

import { path } from '../../../lib/api.js'
import { formatDay, formatNumber } from '../../../lib/format.js'
import { html } from '../../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../../lib/languages.js'
import { useReload } from '../../../lib/use-reload.js'
import { BarChart } from '../../../parts/bar-chart.js'
import { Loaded } from '../../../parts/loaded.js'
import { Section } from '../../../parts/section.js'
import { texts } from './texts.js'

/**
 * @typedef {{
 *   day: string, messages_in: number, messages_out: number, spamguard_blocks: number, lifecycle_events: number,
 * }} Day
 */
/** @typedef {{ from: string, to: string, rows: Day[] }} Usage */

const dayMs = 86_400_000
/** The service stores its counts once a minute. */
const countMs = 60_000

/** @param {{ row: import('../../../lib/use-instance.js').Row }} props */
export function UsageSection({ row: { name, last_in_at: lastIn, last_out_at: lastOut } }) {
  const t = useTexts(texts)
  const loaded = useReload(path`instances/${name}/usage`, `${lastIn} ${lastOut}`, countMs)
  return html`<${Section} title=${t.title} wide>
    <${Loaded} from=${loaded}>${(/** @type {Usage} */ usage) => html`<${Days} usage=${usage} />`}<//>
  <//>`
}

/** @param {{ usage: Usage }} props */
function Days({ usage }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const byDay = new Map(usage.rows.map((row) => [row.day, row]))
  const days = daysBetween(usage.from, usage.to)
  const sum = (/** @type {(row: Day) => number} */ count) => {
    return formatNumber(
      language,
      usage.rows.reduce((all, row) => all + count(row), 0),
    )
  }
  const series = [
    { name: t.messagesIn, values: days.map((day) => byDay.get(day)?.messages_in ?? 0) },
    { name: t.messagesOut, values: days.map((day) => byDay.get(day)?.messages_out ?? 0) },
  ]
  const totals = {
    in: sum((row) => row.messages_in),
    out: sum((row) => row.messages_out),
    blocks: sum((row) => row.spamguard_blocks),
    events: sum((row) => row.lifecycle_events),
  }
  return html`<${BarChart}
      caption=${t.perDay}
      labelHead=${t.day}
      labels=${days.map((day) => formatDay(language, day))}
      series=${series}
    />
    <p class="soft">${fill(t.totals, totals)}</p>`
}

/** @param {string} from @param {string} to both as YYYY-MM-DD @returns {string[]} every day of the time */
function daysBetween(from, to) {
  const begin = Date.parse(from)
  const count = Math.round((Date.parse(to) - begin) / dayMs) + 1
  return Array.from({ length: count }, (_, index) => new Date(begin + index * dayMs).toISOString().slice(0, 10))
}
