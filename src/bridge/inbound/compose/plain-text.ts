// Tells a text in which nothing means anything in WhatsApp's formatting, in Markdown, in typography or as an address: words with
// single spaces between them and at most one sign of punctuation behind a word. Most messages are such texts.

const word = '[\\p{L}\\p{N}][\\p{L}\\p{M}\\p{N}]*'
/** The first character is a letter, because a number and a full stop begin a list. */
const plainText = new RegExp(`^(?=\\p{L})${word}(?:[,.?!]? ${word})*[,.?!]?$`, 'u')
const longest = 250

export function isPlainText(text: string): boolean {
  return text.length <= longest && plainText.test(text)
}
