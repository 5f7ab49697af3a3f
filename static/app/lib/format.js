// Numbers, dates and durations in the language of the visitor.

/** @typedef {import('./languages.js').Language} Language */

/** @param {Language} language @param {number} value @param {Intl.NumberFormatOptions} [options] */
export function formatNumber(language, value, options) {
  return new Intl.NumberFormat(language, options).format(value)
}

/** @param {Language} language @param {string | null} timestamp */
export function formatTime(language, timestamp) {
  if (timestamp === null) return '–'
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(timestamp))
}

/** @type {readonly [Intl.RelativeTimeFormatUnit, number][]} */
const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
]

/**
 * How long ago: "5 minutes ago".
 * @param {Language} language @param {string | null} timestamp @param {number} now
 */
export function formatAgo(language, timestamp, now) {
  if (timestamp === null) return '–'
  const ms = Math.min(0, Date.parse(timestamp) - now)
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  const [unit, size] = units.find(([, each]) => -ms >= each) ?? ['second', 1000]
  return format.format(Math.trunc(ms / size), unit)
}
