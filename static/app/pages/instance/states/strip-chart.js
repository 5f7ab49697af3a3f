// The states of a day on three lanes: the lane, not only the colour, says how good a state is. The table inside says the same
// to screen readers.

import { formatClock, formatSpan, formatTime } from '../../../lib/format.js'
import { html } from '../../../lib/html.js'
import { useLanguage, useTexts } from '../../../lib/languages.js'
import { kindOf, StateBadge } from '../../../parts/state-badge.js'
import { texts as stateTexts } from '../../../parts/texts.js'
import { spansOf } from './spans.js'
import { texts } from './texts.js'

const lane = { height: 22, gap: 6 }
/** @type {readonly ('good' | 'warn' | 'bad')[]} */
const kinds = ['good', 'warn', 'bad']
const plotHeight = kinds.length * (lane.height + lane.gap)
const marks = [
  { place: 0, anchor: 'start', isMinor: false },
  { place: 0.25, anchor: 'middle', isMinor: true },
  { place: 0.5, anchor: 'middle', isMinor: false },
  { place: 0.75, anchor: 'middle', isMinor: true },
  { place: 1, anchor: 'end', isMinor: false },
]

/** @param {{ caption: string, history: import('./spans.js').StateHistory }} props */
export function StripChart({ caption, history }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const names = useTexts(stateTexts)
  const spans = spansOf(history)
  const begin = Date.parse(history.from)
  const whole = Date.parse(history.to) - begin
  return html`<figure class="chart strip">
    <figcaption class="hidden">${caption}</figcaption>
    <div class="lanes" aria-hidden="true">
      ${kinds.map((kind) => html`<span key=${kind} class=${kind}>${t[kind]}</span>`)}
    </div>
    <svg width="100%" height=${plotHeight + 20} aria-hidden="true">
      ${kinds.map(
        (kind, index) =>
          html`<line key=${kind} class="tick" x1="0" x2="100%" y1=${bottomOf(index)} y2=${bottomOf(index)} />`,
      )}
      ${spans.map(
        ({ state, at, start, length, ms, reason }, index) =>
          html`<rect
            key=${index}
            class=${kindOf(state)}
            x=${percent(start)}
            width=${percent(length)}
            y=${bottomOf(kinds.indexOf(kindOf(state))) - lane.height}
            height=${lane.height}
          >
            <title>
              ${[names[state], formatTime(language, at), formatSpan(language, ms), reason].filter(Boolean).join(' · ')}
            </title>
          </rect>`,
      )}
      ${marks.map(
        ({ place, anchor, isMinor }) =>
          html`<text
            key=${place}
            class=${isMinor ? 'minor' : null}
            x=${percent(place)}
            y=${plotHeight + 16}
            text-anchor=${anchor}
          >
            ${formatClock(language, begin + place * whole)}
          </text>`,
      )}
    </svg>
    <div class="hidden">
      <table>
        <caption>
          ${caption}
        </caption>
        <thead>
          <tr>
            ${[t.state, t.since, t.lasted, t.reason].map((head) => html`<th key=${head} scope="col">${head}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${spans.map(
            ({ state, at, ms, reason }, index) =>
              html`<tr key=${index}>
                <th scope="row"><${StateBadge} state=${state} /></th>
                <td>${formatTime(language, at)}</td>
                <td>${formatSpan(language, ms)}</td>
                <td>${reason ?? '–'}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </figure>`
}

/** The bottom of a lane. @param {number} index */
function bottomOf(index) {
  return (index + 1) * (lane.height + lane.gap)
}

/** @param {number} fraction */
function percent(fraction) {
  return `${(100 * fraction).toFixed(3)}%`
}
