// Months in UTC as YYYY-MM, as the API counts them.

/** The month of this time. @param {number} at */
export function monthOf(at) {
  return new Date(at).toISOString().slice(0, 7)
}

/** The month that lies so many months before. @param {string} month @param {number} count */
export function monthBefore(month, count) {
  const start = new Date(`${month}-01T00:00:00Z`)
  return monthOf(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() - count))
}

/** All months from the first to the last. @param {string} from @param {string} to @returns {string[]} */
export function monthsBetween(from, to) {
  const months = []
  for (let month = from; month <= to; month = monthBefore(month, -1)) months.push(month)
  return months
}
