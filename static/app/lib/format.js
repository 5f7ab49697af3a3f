// Numbers, dates and durations in the language of the visitor.

/** @typedef {import('./languages.js').Language} Language */

/**
 * Formats are kept: to make one takes longer than to use it, and the overview shows hundreds of times.
 * @template T
 * @param {(language: Language) => T} make
 * @returns {(language: Language) => T}
 */
function once(make) {
  /** @type {Map<Language, T>} */
  const made = new Map()
  return (language) => {
    const format = made.get(language) ?? make(language)
    made.set(language, format)
    return format
  }
}

const numberFormat = once((language) => new Intl.NumberFormat(language))
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
  return (options ? new Intl.NumberFormat(language, options) : numberFormat(language)).format(value)
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

/** How long something lasts: "5 minutes". @param {Language} language @param {number} ms */
export function formatSpan(language, ms) {
  const [unit, size] = units.find(([, each]) => ms >= each) ?? ['second', 1000]
  return formatNumber(language, Math.round(ms / size), { style: 'unit', unit, unitDisplay: 'long' })
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
