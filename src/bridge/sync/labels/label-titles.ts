// Names a label of WhatsApp at the helpdesk. Chatwoot takes titles of at least two characters: lower-case letters, digits, "-" and
// "_", the first of them a letter or a digit.

/** More than any name of a label at WhatsApp. Chatwoot takes 255. */
const longest = 100
const notAllowed = /[^\p{L}\p{N}_-]+/gu
const outerMarks = /^[-_]+|[-_]+$/gu

/**
 * The form in which titles are compared; empty when the text has neither letters nor digits. A title of Chatwoot is its own
 * form, apart from marks at its ends.
 */
export function titleForm(text: string): string {
  const lower = text
    .slice(0, 4 * longest)
    .normalize('NFC')
    .toLowerCase()
  const form = lower.replace(notAllowed, '-').replace(outerMarks, '')
  return firstOf(form, longest).replace(outerMarks, '')
}

/** The title of a new label. It differs from all taken titles: names such as "VIP" and "vip" have the same form. */
export function newTitle(name: string, labelId: string, isTaken: (title: string) => boolean): string {
  const form = titleForm(name)
  const title = Array.from(form).length < 2 ? `label-${form || labelId}` : form
  if (!isTaken(title)) return title
  const end = `-${labelId}`
  const withId = `${firstOf(title, longest - end.length)}${end}`
  if (!isTaken(withId)) return withId
  // Another label has this title as its name.
  let count = 1
  while (isTaken(`label-${labelId}-${count}`)) count++
  return `label-${labelId}-${count}`
}

/** Counts characters, not their halves. */
function firstOf(text: string, count: number): string {
  return Array.from(text).slice(0, count).join('')
}
