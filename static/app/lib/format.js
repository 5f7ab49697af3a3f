// Numbers, dates and durations in the language of the visitor.

/** @typedef {import('./languages.js').Language} Language */

/**
 * Formats are kept: to make one takes longer than to use it, and the overview shows hundreds of times.
 * @template T, [Options=undefined]
 * @param {(language: Language, options?: Options) => T} make
 * @returns {(language: Language, options?: Options) => T}
 */
function once(make) {
  /** @type {Map<string, T>} */
  const made = new Map()
  return (language, options) => {
    const key = options ? `${language} ${JSON.stringify(options)}` : language
    const format = made.get(key) ?? make(language, options)
    made.set(key, format)
    return format
  }
}

const numberFormat = once(
  (language, /** @type {Intl.NumberFormatOptions | undefined} */ options) => new Intl.NumberFormat(language, options),
)
const timeFormat = once((language) => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' }))
const clockFormat = once((language) => new Intl.DateTimeFormat(language, { hour: 'numeric', minute: '2-digit' }))
const dayFormat = once(
  (language) => new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
)
const monthFormat = once(
  (language) => new Intl.DateTimeFormat(language, { month: 'short', year: 'numeric', timeZone: 'UTC' }),
)
const agoFormat = once((language) => new Intl.RelativeTimeFormat(language, { numeric: 'auto' }))

/** @param {Language} language @param {number} value @param {Intl.NumberFormatOptions} [options] */
export function formatNumber(language, value, options) {
  return numberFormat(language, options).format(value)
}

/** @param {Language} language @param {string | null} timestamp */
export function formatTime(language, timestamp) {
  if (timestamp === null) return '–'
  return timeFormat(language).format(new Date(timestamp))
}

/** The time of the day. @param {Language} language @param {number} at */
export function formatClock(language, at) {
  return clockFormat(language).format(at)
}

/** @param {Language} language @param {string} day as YYYY-MM-DD, a day in UTC */
export function formatDay(language, day) {
  return dayFormat(language).format(new Date(day))
}

/** @param {Language} language @param {string} month as YYYY-MM, a month in UTC */
export function formatMonth(language, month) {
  return monthFormat(language).format(new Date(month))
}

/** @type {readonly [Intl.RelativeTimeFormatUnit, number][]} */
const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

/**
 * How long ago: "5 minutes ago", "this minute".
 * @param {Language} language @param {string | null} timestamp @param {number} now
 */
export function formatAgo(language, timestamp, now) {
  if (timestamp === null) return '–'
  const ms = Math.min(0, Date.parse(timestamp) - now)
  const [unit, size] = units.find(([, each]) => -ms >= each) ?? ['minute', 60_000]
  return agoFormat(language).format(Math.trunc(ms / size), unit)
}

/** How long something lasts: "5 minutes", "1.5 hours". @param {Language} language @param {number} ms */
export function formatSpan(language, ms) {
  const [unit, size] = units.find(([, each]) => ms >= each) ?? ['second', 1000]
  const options = /** @type {const} */ ({ style: 'unit', unitDisplay: 'long', maximumFractionDigits: 1 })
  return formatNumber(language, ms / size, { ...options, unit })
}

/** The size of a file: "1.5 MB". @param {Language} language @param {number} bytes */
export function formatBytes(language, bytes) {
  const [unit, size] = sizes.find(([, each]) => bytes >= each) ?? ['byte', 1]
  return formatNumber(language, bytes / size, { style: 'unit', unit, maximumFractionDigits: 1 })
}

/** @type {readonly [string, number][]} */
const sizes = [
  ['gigabyte', 1e9],
  ['megabyte', 1e6],
  ['kilobyte', 1e3],
]
