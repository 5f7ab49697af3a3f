// The messages on one of the two screens, the newest at the bottom.

import { html } from '../../../static/app/lib/html.js'
import { useLanguage, useTexts } from '../../../static/app/lib/languages.js'
import { useEffect, useRef } from '../../../static/app/vendor/hooks.js'
import { texts } from '../texts.js'
import { formatMarkdown } from './format-markdown.js'

/** @typedef {import('../../view.ts').Bubble} Shown */

/** @type {Record<import('../../view.ts').Tick, string>} */
const ticks = { sent: '✓', delivered: '✓✓', read: '✓✓', failed: '!' }

/**
 * @param {{ bubbles: Shown[], label: string, empty: string, isMarkdown?: boolean, actions?: (bubble: Shown) => unknown }} props
 */
export function Bubbles({ bubbles, label, empty, isMarkdown = false, actions }) {
  const list = useRef(/** @type {HTMLElement | null} */ (null))
  const newest = bubbles.at(-1)?.id
  const showNewest = () => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight
  }
  useEffect(showNewest, [newest, bubbles.length])
  return html`<ol class="bubbles" ref=${list} aria-label=${label} aria-live="polite" tabindex="0">
    ${bubbles.length === 0 && html`<li class="empty">${empty}</li>`}
    ${bubbles.map((each) => html`<${Bubble} key=${each.id} bubble=${each} onLoad=${showNewest} isMarkdown=${isMarkdown} actions=${actions} />`)}
  </ol>`
}

/** @param {{ bubble: Shown, onLoad: () => void, isMarkdown: boolean, actions?: (bubble: Shown) => unknown }} props */
function Bubble({ bubble, onLoad, isMarkdown, actions }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const { isMine, author, text, file, quote, tick, reaction, isDeleted, isEdited, isNote, at } = bubble
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'short' }).format(at)
  return html`<li class=${`bubble ${isMine ? 'mine' : 'theirs'}${isNote ? ' note' : ''}`}>
    ${!isMine && author !== null && html`<span class="author">${author}</span>`}
    ${isNote && html`<span class="author">${t.note}</span>`}
    ${quote !== null && html`<blockquote>${quote}</blockquote>`}
    ${!isDeleted && file?.kind === 'image' && html`<img src=${file.url} alt=${t.picture} onLoad=${onLoad} />`}
    ${!isDeleted && file?.kind === 'audio' && html`<audio controls src=${file.url} aria-label=${t.voiceNote}></audio>`}
    ${isDeleted ? html`<em>${t.deleted}</em>` : html`<span class="text">${isMarkdown ? formatMarkdown(text) : text}</span>`}
    <span class="meta">
      ${isEdited && !isDeleted && html`<span>${t.edited}</span>`}
      <time>${time}</time>
      ${tick && html`<span class=${`tick ${tick}`} role="img" aria-label=${t[tick]} title=${t[tick]}>${ticks[tick]}</span>`}
      ${actions?.(bubble)}
    </span>
    ${reaction && html`<span class="reaction">${reaction}</span>`}
  </li>`
}
