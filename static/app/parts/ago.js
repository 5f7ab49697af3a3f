// How long ago something happened. It counts up once a minute; the exact time is in the title.

import { formatAgo, formatTime } from '../lib/format.js'
import { html } from '../lib/html.js'
import { useLanguage, useTexts } from '../lib/languages.js'
import { useEffect, useState } from '../vendor/hooks.js'
import { texts } from './texts.js'

const everyMs = 60_000

/** @type {Set<() => void>} */
const listeners = new Set()
/** One timer for all times on the page. @type {ReturnType<typeof setInterval> | undefined} */
let timer

/** @param {() => void} listener */
function listen(listener) {
  listeners.add(listener)
  timer ??= setInterval(() => {
    for (const each of listeners) each()
  }, everyMs)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** @param {{ at: string | null }} props null when it has not happened yet */
export function Ago({ at }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const [, count] = useState(0)
  useEffect(() => (at === null ? undefined : listen(() => count((before) => before + 1))), [at === null])
  if (at === null) return html`<span>${t.never}</span>`
  // In a live region, a screen reader would read it again every minute.
  return html`<time aria-live="off" datetime=${at} title=${formatTime(language, at)}
    >${formatAgo(language, at, Date.now())}</time
  >`
}
