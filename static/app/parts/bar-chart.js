// Bars side by side for each label: one or two series. The table inside says the same to screen readers.

import { formatNumber } from '../lib/format.js'
import { html } from '../lib/html.js'
import { useLanguage } from '../lib/languages.js'

/** @typedef {{ name: string, values: readonly number[] }} Series */
/** @typedef {{ caption: string, labelHead: string, labels: readonly string[], series: readonly Series[] }} BarChartProps */
/** @typedef {(value: number) => string} Write */

const size = { height: 200, left: 40, top: 8, bottom: 24 }
const plotHeight = size.height - size.top - size.bottom
const mostTicks = 4
const mostLabels = 5
/** The first series is filled, the second hollow: colour is not the only difference. */
const looks = ['filled', 'hollow']

/** @param {BarChartProps} props `labelHead` says what the labels are, such as "Day" */
export function BarChart({ caption, labelHead, labels, series }) {
  const language = useLanguage()
  const write = (/** @type {number} */ value) => formatNumber(language, value)
  const highest = Math.max(1, ...series.flatMap(({ values }) => values))
  const step = tickStep(highest)
  const ticks = Array.from({ length: Math.ceil(highest / step) + 1 }, (_, index) => index * step)
  const top = step * (ticks.length - 1)
  const yOf = (/** @type {number} */ value) => size.top + plotHeight * (1 - value / top)
  return html`<figure class="chart">
    <figcaption>
      ${caption}
      ${series.map(({ name }, index) => html`<span key=${name} class=${`key ${looks[index]}`}>${name}</span>`)}
    </figcaption>
    <div class="plot" aria-hidden="true">
      <svg width=${size.left} height=${size.height}>
        ${ticks.map(
          (value) =>
            html`<text key=${value} x=${size.left} y=${yOf(value) + 4} text-anchor="end">${write(value)}</text>`,
        )}
      </svg>
      <svg width="100%" height=${size.height}>
        ${ticks.map(
          (value) => html`<line key=${value} class="tick" x1="0" x2="100%" y1=${yOf(value)} y2=${yOf(value)} />`,
        )}
        ${labels.map((label, index) => html`<${Group} key=${label} ...${{ index, labels, series, yOf, write }} />`)}
      </svg>
    </div>
    <div class="hidden">
      <table>
        <caption>
          ${caption}
        </caption>
        <thead>
          <tr>
            <th scope="col">${labelHead}</th>
            ${series.map(({ name }) => html`<th key=${name} scope="col">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${labels.map(
            (label, index) =>
              html`<tr key=${label}>
                <th scope="row">${label}</th>
                ${series.map(({ name, values }) => html`<td key=${name}>${write(values[index] ?? 0)}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </figure>`
}

/**
 * The bars of one label, and the label where there is room for it.
 * @param {Pick<BarChartProps, 'labels' | 'series'> & { index: number, yOf: (value: number) => number, write: Write }} props
 */
function Group({ index, labels, series, yOf, write }) {
  const room = 100 / labels.length
  const width = (room * 0.8) / series.length
  const every = Math.ceil(labels.length / mostLabels)
  const bars = series.map(({ name, values }, place) => {
    const value = values[index] ?? 0
    const y = yOf(value)
    return html`<rect
      key=${name}
      class=${`bar ${looks[place]}`}
      x=${`${room * index + room * 0.1 + width * place}%`}
      width=${`${width}%`}
      y=${y}
      height=${size.top + plotHeight - y}
    >
      <title>${`${labels[index]} · ${name}: ${write(value)}`}</title>
    </rect>`
  })
  const isLabelled = index % every === Math.floor(every / 2)
  const isMinor = Math.floor(index / every) % 2 === 1
  return html`<g>
    ${bars}
    ${
      isLabelled &&
      html`<text
        class=${isMinor ? 'minor' : null}
        x=${`${room * (index + 0.5)}%`}
        y=${size.height - 6}
        text-anchor="middle"
      >
        ${labels[index]}
      </text>`
    }
  </g>`
}

/**
 * The distance of the lines behind the bars: 1, 2 or 5 times a power of ten.
 * @param {number} highest
 */
function tickStep(highest) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, highest / mostTicks)))
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => highest / step <= mostTicks) ?? 10 * power
}
