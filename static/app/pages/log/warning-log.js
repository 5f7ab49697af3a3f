// The last warnings of the service. Each new one loads the list again.

import { formatTime } from '../../lib/format.js'
import { html } from '../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../lib/languages.js'
import { useLive } from '../../lib/live.js'
import { maskNumbers } from '../../lib/mask.js'
import { useReload } from '../../lib/use-reload.js'
import { DataTable } from '../../parts/data-table.js'
import { Loaded } from '../../parts/loaded.js'
import { Section } from '../../parts/section.js'
import { useState } from '../../vendor/hooks.js'
import { texts } from './texts.js'

/**
 * @typedef {{
 *   ts: string, level: 'warn' | 'error', message: string, instance: string | null, details: Record<string, unknown>,
 * }} Warning
 */

const firstShown = 20

export function WarningLog() {
  const t = useTexts(texts)
  const [alerts, setAlerts] = useState(0)
  useLive(['alert', 'hello'], () => setAlerts((before) => before + 1), [])
  const loaded = useReload('warnings', alerts)
  return html`<${Section} title=${t.warnings} wide>
    <p class="soft">${t.warningsHint}</p>
    <${Loaded} from=${loaded}>
      ${(/** @type {{ warnings: Warning[] }} */ { warnings }) => html`<${WarningTable} warnings=${warnings} />`}
    <//>
  <//>`
}

/** @param {{ warnings: readonly Warning[] }} props */
function WarningTable({ warnings }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? warnings : warnings.slice(0, firstShown)
  /** @type {import('../../parts/data-table.js').Column<Warning>[]} */
  const columns = [
    { head: t.time, cell: ({ ts }) => formatTime(language, ts) },
    { head: t.level, cell: ({ level }) => html`<${Level} level=${level} />` },
    { head: t.message, cell: ({ message }) => maskNumbers(message) },
    { head: t.instance, cell: ({ instance }) => instance ?? '–' },
    { head: t.details, cell: ({ details }) => html`<${Details} details=${details} />` },
  ]
  return html`
    <div aria-live="polite">
      <${DataTable}
        caption=${t.warnings}
        empty=${t.noWarning}
        columns=${columns}
        rows=${shown}
        keyOf=${keysOf(shown)}
      />
    </div>
    ${
      shown.length < warnings.length &&
      html`<div class="actions">
        <button type="button" class="quiet" onClick=${() => setWhole(true)}>
          ${fill(t.showAll, { count: warnings.length })}
        </button>
      </div>`
    }
  `
}

/** Lines of one moment may be equal. The oldest is last: its key stays when newer ones come. @param {readonly Warning[]} rows */
function keysOf(rows) {
  /** @type {Map<Warning, string>} */
  const keys = new Map()
  /** @type {Map<string, number>} */
  const seen = new Map()
  for (const row of rows.toReversed()) {
    const key = `${row.ts} ${row.message}`
    const count = seen.get(key) ?? 0
    seen.set(key, count + 1)
    keys.set(row, `${key} ${count}`)
  }
  return (/** @type {Warning} */ row) => keys.get(row) ?? ''
}

/** @param {{ level: Warning['level'] }} props */
function Level({ level }) {
  const t = useTexts(texts)
  const [kind, sign] = level === 'error' ? ['bad', '✕'] : ['warn', '!']
  return html`<span class=${`badge ${kind}`}><span aria-hidden="true">${sign}</span>${t[level]}</span>`
}

/** @param {{ details: Record<string, unknown> }} props */
function Details({ details }) {
  const t = useTexts(texts)
  if (Object.keys(details).length === 0) return html`<span>–</span>`
  return html`<details>
    <summary>${t.details}</summary>
    <pre>${maskNumbers(JSON.stringify(details, null, 1))}</pre>
  </details>`
}
