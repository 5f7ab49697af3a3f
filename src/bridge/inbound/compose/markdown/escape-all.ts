// Puts a backslash before every character that could mean something in Markdown, wherever the text is put.

const marks = /[\\`*_~[\]<&]/g
const typography = /(?<=[.,?!+-])[.,?!-]|\((?=(?:c|tm|r)\))/gi

export function escapeAll(text: string): string {
  return text.replace(marks, '\\$&').replace(typography, '\\$&')
}
