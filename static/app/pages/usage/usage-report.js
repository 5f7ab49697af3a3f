// The counts of the chosen months and owner tag.

import { toCsv } from '../../lib/csv.js'
import { download } from '../../lib/download.js'
import { formatMonth, formatNumber } from '../../lib/format.js'
import { html } from '../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../lib/languages.js'
import { monthsBetween } from '../../lib/months.js'
import { BarChart } from '../../parts/bar-chart.js'
import { DataTable } from '../../parts/data-table.js'
import { useState } from '../../vendor/hooks.js'
import { texts } from './texts.js'

const counters = /** @type {const} */ ([
  'messages_in',
  'messages_out',
  'spamguard_blocks',
  'lifecycle_events',
  'active_instances',
])

/** A thousand owner tags in two years are 24,000 rows, which a browser shows only after seconds. */
const firstShown = 200

/** @typedef {{ owner_tag: string, month: string } & Record<(typeof counters)[number], number>} Row */
/** @typedef {{ from: string, to: string, rows: Row[] }} Usage */

/** @param {{ usage: Usage, tag: string | null }} props null: all owner tags */
export function UsageReport({ usage: { from, to, rows: all }, tag }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const [isWhole, setWhole] = useState(false)
  const rows = all
    .filter((row) => tag === null || row.owner_tag === tag)
    .sort((a, b) => b.month.localeCompare(a.month) || a.owner_tag.localeCompare(b.owner_tag))
  const shown = isWhole ? rows : rows.slice(0, firstShown)
  const months = monthsBetween(from, to)
  const series = /** @type {const} */ (['messages_in', 'messages_out']).map((counter) => ({
    name: t[counter],
    values: months.map((month) => sum(rows, month, counter)),
  }))
  const labels = months.map((month) => formatMonth(language, month))
  /** @type {import('../../parts/data-table.js').Column<Row>[]} */
  const columns = [
    { head: t.month, cell: ({ month }) => formatMonth(language, month) },
    { head: t.ownerTag, cell: ({ owner_tag: each }) => each || '–' },
    ...counters.map((counter) => ({
      ...{ head: t[counter], kind: /** @type {const} */ ('number') },
      cell: (/** @type {Row} */ row) => formatNumber(language, row[counter]),
    })),
  ]
  return html`
    <div class="card report">
      <${BarChart} caption=${t.perMonth} labelHead=${t.month} labels=${labels} series=${series} />
    </div>
    <div class="card report">
      <${DataTable}
        caption=${t.table}
        empty=${t.empty}
        columns=${columns}
        rows=${shown}
        keyOf=${(/** @type {Row} */ { month, owner_tag: each }) => `${month} ${each}`}
      />
      <div class="actions">
        ${
          shown.length < rows.length &&
          html`<button type="button" class="quiet" onClick=${() => setWhole(true)}>
            ${fill(t.showAll, { count: formatNumber(language, rows.length) })}
          </button>`
        }
        <button type="button" disabled=${rows.length === 0} onClick=${() => save(rows, from, to)}>${t.download}</button>
      </div>
    </div>
  `
}

/** @param {readonly Row[]} rows @param {string} month @param {'messages_in' | 'messages_out'} counter */
function sum(rows, month, counter) {
  return rows.filter((row) => row.month === month).reduce((total, row) => total + row[counter], 0)
}

/** The columns have the names of the API, in every language. @param {readonly Row[]} rows @param {string} from @param {string} to */
function save(rows, from, to) {
  const head = ['month', 'owner_tag', ...counters]
  const lines = rows.map((row) => [row.month, row.owner_tag, ...counters.map((counter) => row[counter])])
  // Spreadsheets read a file without this mark in the characters of the system.
  const mark = '\uFEFF'
  download(`causeway-usage-${from}-${to}.csv`, 'text/csv;charset=utf-8', `${mark}${toCsv([head, ...lines])}`)
}
