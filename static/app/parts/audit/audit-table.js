// Entries of the audit log. Numbers of people are masked.

import { formatTime } from '../../lib/format.js'
import { html } from '../../lib/html.js'
import { useLanguage, useTexts } from '../../lib/languages.js'
import { maskNumbers } from '../../lib/mask.js'
import { DataTable } from '../data-table.js'
import { texts } from './texts.js'

/**
 * @typedef {{
 *   id: number, ts: string, actor: string, action: string, instance: string, target: string,
 *   metadata: Record<string, unknown>,
 * }} AuditEntry
 */

/** @param {{ entries: readonly AuditEntry[], withInstance?: boolean }} props */
export function AuditTable({ entries, withInstance = false }) {
  const t = useTexts(texts)
  const language = useLanguage()
  /** @type {import('../data-table.js').Column<AuditEntry>[]} */
  const columns = [
    { head: t.time, cell: ({ ts }) => formatTime(language, ts) },
    { head: t.action, cell: ({ action }) => html`<code>${action}</code>` },
    ...(withInstance ? [{ head: t.instance, cell: (/** @type {AuditEntry} */ { instance }) => instance || '–' }] : []),
    { head: t.actor, cell: ({ actor }) => actor },
    { head: t.target, cell: ({ target, instance }) => (target === instance ? '–' : maskNumbers(target) || '–') },
    { head: t.details, cell: ({ metadata }) => detailsOf(metadata) },
  ]
  return html`<${DataTable}
    caption=${t.caption}
    empty=${t.empty}
    rows=${entries}
    keyOf=${(/** @type {AuditEntry} */ { id }) => id}
    columns=${columns}
  />`
}

/** @param {Record<string, unknown>} metadata */
function detailsOf(metadata) {
  const facts = Object.entries(metadata).map(([key, value]) => `${key}: ${wordOf(value)}`)
  return maskNumbers(facts.join(', ')) || '–'
}

/** @param {unknown} value */
function wordOf(value) {
  if (Array.isArray(value)) return value.join(' ') || '–'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
