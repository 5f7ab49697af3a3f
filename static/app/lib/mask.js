// Hides numbers of people: the pages show no number of a customer.

/** Six digits in a row, or a number with a plus and the usual separators. */
const numberForm = /\+\d(?:[ ().-]{0,2}\d){5,}|\d{6,}/g

/** Every number keeps its last two digits. @param {string} text */
export function maskNumbers(text) {
  return text.replaceAll(numberForm, (number) => `…${number.slice(-2)}`)
}
