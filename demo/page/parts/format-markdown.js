// Shows the little Markdown that the service writes as Chatwoot does: code, bold, and escaped characters.

import { html } from '../../../static/app/lib/html.js'

const mark = /`([^`]+)`|\*\*([^*]+)\*\*|\\([^\w\s])/g

/** @param {string} text @returns {unknown[]} */
export function formatMarkdown(text) {
  /** @type {unknown[]} */
  const parts = []
  let end = 0
  for (const found of text.matchAll(mark)) {
    const [whole, code, bold, escaped] = found
    parts.push(text.slice(end, found.index))
    if (code !== undefined) parts.push(html`<code>${code}</code>`)
    else if (bold !== undefined) parts.push(html`<strong>${formatMarkdown(bold)}</strong>`)
    else parts.push(escaped)
    end = found.index + whole.length
  }
  parts.push(text.slice(end))
  return parts
}
