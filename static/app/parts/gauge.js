// A half circle with a hand: a value, and the threshold where it becomes dangerous.

import { html } from '../lib/html.js'
import { useId } from '../vendor/hooks.js'

const middle = { x: 60, y: 58 }
const radius = 46

/** @param {number} fraction from the left end (0) to the right end (1) @param {number} [distance] */
function pointAt(fraction, distance = radius) {
  const angle = Math.PI * (1 - Math.min(1, Math.max(0, fraction)))
  const x = middle.x + distance * Math.cos(angle)
  const y = middle.y - distance * Math.sin(angle)
  return `${x.toFixed(2)} ${y.toFixed(2)}`
}

/** @param {number} from @param {number} to */
function arc(from, to) {
  return `M ${pointAt(from)} A ${radius} ${radius} 0 0 1 ${pointAt(to)}`
}

/**
 * @param {{
 *   name: string,
 *   value: number,
 *   threshold: number,
 *   highest: number,
 *   danger: 'above' | 'below',
 *   kind: 'good' | 'warn' | 'bad',
 *   reading: string,
 *   word: string,
 *   children?: import('../lib/html.js').Children,
 * }} props `reading` is the value with its unit, `word` what it means; the children explain the threshold
 */
export function Gauge({ name, value, threshold, highest, danger, kind, reading, word, children }) {
  const id = useId()
  const limit = threshold / highest
  const [low, high] = danger === 'above' ? ['good', 'bad'] : ['bad', 'good']
  return html`<div class="gauge">
    <h3 id=${id}>${name}</h3>
    <div
      role="meter"
      aria-labelledby=${id}
      aria-valuemin="0"
      aria-valuemax=${highest}
      aria-valuenow=${Math.min(value, highest)}
      aria-valuetext=${`${reading}: ${word}`}
    >
      <svg viewBox="0 0 120 64" width="150" height="80" aria-hidden="true">
        <path class=${`zone ${low}`} d=${arc(0, limit)} />
        <path class=${`zone ${high}`} d=${arc(limit, 1)} />
        <path class="limit" d=${`M ${pointAt(limit, radius - 9)} L ${pointAt(limit, radius + 9)}`} />
        <path class="hand" d=${`M ${middle.x} ${middle.y} L ${pointAt(value / highest, radius - 8)}`} />
        <circle class="hub" cx=${middle.x} cy=${middle.y} r="4" />
      </svg>
    </div>
    <p class="reading">${reading}</p>
    <p class=${kind}><span aria-hidden="true">${kind === 'good' ? '✓' : '!'}</span> ${word}</p>
    ${children}
  </div>`
}
