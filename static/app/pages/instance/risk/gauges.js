// The three signals of the ban risk, each with the threshold where WhatsApp may take it for spam.

import { formatNumber, formatSpan } from '../../../lib/format.js'
import { html } from '../../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../../lib/languages.js'
import { Gauge } from '../../../parts/gauge.js'
import { texts } from './texts.js'

/**
 * @typedef {{
 *   velocity_msgs_per_window: number, velocity_threshold: number, velocity_window_ns: number,
 *   diversity_unique_jids: number, diversity_threshold: number, diversity_window_ns: number,
 *   delivery_ratio: number, delivery_samples: number, delivery_threshold: number, delivery_min_samples: number,
 *   delivery_window_ns: number, alerts: string[], level: 'ok' | 'low' | 'moderate' | 'high',
 *   first_contacts_24h: number, rate_limit_in_force: number, warmup: { day: number, days: number } | null,
 * }} BanRisk
 */

const nanoseconds = 1_000_000
/** The threshold of a count stands in the middle of its gauge. */
const aboveThreshold = 2

/** @param {{ risk: BanRisk }} props */
export function Gauges({ risk }) {
  const t = useTexts(texts)
  return html`<div class="gauges">
    <${Count}
      name=${t.velocity}
      value=${risk.velocity_msgs_per_window}
      threshold=${risk.velocity_threshold}
      windowNs=${risk.velocity_window_ns}
      isCrossed=${risk.alerts.includes('high_velocity')}
    />
    <${Count}
      name=${t.diversity}
      value=${risk.diversity_unique_jids}
      threshold=${risk.diversity_threshold}
      windowNs=${risk.diversity_window_ns}
      isCrossed=${risk.alerts.includes('burst_outreach')}
    />
    <${Ratio} risk=${risk} />
  </div>`
}

/** @param {{ name: string, value: number, threshold: number, windowNs: number, isCrossed: boolean }} props */
function Count({ name, value, threshold, windowNs, isCrossed }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const limit = { threshold: formatNumber(language, threshold), window: formatSpan(language, windowNs / nanoseconds) }
  return html`<${Gauge}
    name=${name}
    value=${value}
    threshold=${threshold}
    highest=${threshold * aboveThreshold}
    danger="above"
    kind=${isCrossed ? 'bad' : 'good'}
    reading=${formatNumber(language, value)}
    word=${isCrossed ? t.above : t.fine}
  >
    <p class="soft">${fill(t.most, limit)}</p>
  <//>`
}

/** @param {{ risk: BanRisk }} props */
function Ratio({ risk }) {
  const t = useTexts(texts)
  const language = useLanguage()
  const percent = (/** @type {number} */ value) => {
    return formatNumber(language, value, { style: 'percent', maximumFractionDigits: 0 })
  }
  const isKnown = risk.delivery_samples >= risk.delivery_min_samples
  const isCrossed = risk.alerts.includes('low_delivery')
  const samples = { count: formatNumber(language, risk.delivery_samples), least: risk.delivery_min_samples }
  const window = formatSpan(language, risk.delivery_window_ns / nanoseconds)
  const word = isCrossed ? t.below : t.fine
  return html`<${Gauge}
    name=${t.delivery}
    value=${risk.delivery_ratio}
    threshold=${risk.delivery_threshold}
    highest=${1}
    danger="below"
    kind=${isCrossed ? 'bad' : 'good'}
    reading=${percent(risk.delivery_ratio)}
    word=${isKnown ? word : fill(t.fewSamples, samples)}
  >
    <p class="soft">${fill(t.least, { threshold: percent(risk.delivery_threshold), window })}</p>
  <//>`
}
