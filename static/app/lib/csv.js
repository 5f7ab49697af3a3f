// Writes tables as CSV files for spreadsheets.

/** Spreadsheets read a cell that begins so as a formula, and run it. */
const beginsFormula = /^[=+\-@\t\r\n]/

/** @param {string | number} value */
function cell(value) {
  const text = String(value)
  // An apostrophe makes a spreadsheet show the cell as text. A negative number is no formula.
  const safe = typeof value === 'string' && beginsFormula.test(text) ? `'${text}` : text
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** @param {readonly (readonly (string | number)[])[]} rows the first one has the names of the columns */
export function toCsv(rows) {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}
