// A table of rows. On a narrow page it scrolls inside its own frame.

import { html } from '../lib/html.js'

/** @typedef {import('../lib/html.js').Children} Children */
/**
 * @template Row
 * @typedef {{ head: string, kind?: 'number', cell: (row: Row) => Children }} Column
 */

/**
 * @template Row
 * @param {{
 *   caption: string,
 *   columns: readonly Column<Row>[],
 *   rows: readonly Row[],
 *   keyOf: (row: Row) => string | number,
 *   empty?: string,
 * }} props the first column names the row; `empty` takes the place of a table without rows
 */
export function DataTable({ caption, columns, rows, keyOf, empty }) {
  if (rows.length === 0 && empty !== undefined) return html`<p class="soft">${empty}</p>`
  return html`<div class="scroll" role="group" aria-label=${caption} tabindex="0">
    <table>
      <caption class="hidden">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(({ head, kind }) => html`<th key=${head} scope="col" class=${kind}>${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr key=${keyOf(row)}>
              ${columns.map(({ head, kind, cell }, index) =>
                index === 0
                  ? html`<th key=${head} scope="row" class=${kind}>${cell(row)}</th>`
                  : html`<td key=${head} class=${kind}>${cell(row)}</td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
