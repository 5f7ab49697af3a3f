// Puts a backslash before every character that could mean something in Markdown, wherever the text is put.

const marks = /[\\`*_~[\]<&]/g
const typography = /(?<=[.,?!+-])[.,?!-]|\((?=(?:c|tm|r)\))/gi
const firstSign = /^[.,?!-]/
const lastSign = /(?<!\\)(?:[.,?!+-]$|\((?=(?:c|tm|r)?$))/i

export function escapeAll(text: string): string {
  return text.replace(marks, '\\$&').replace(typography, '\\$&')
}

/** For a name in the middle of other text, whose first and last characters can mean something together with the text beside it. */
export function escapeName(name: string): string {
  return escapeAll(name).replace(firstSign, '\\$&').replace(lastSign, '\\$&')
}
