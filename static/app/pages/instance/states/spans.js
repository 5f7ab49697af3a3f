// The states of an instance as spans of time: each lasts until the next one.

/** @typedef {import('../../../parts/state-badge.js').State} State */
/** @typedef {{ from: string, to: string, states: { at: string, state: State, reason: string | null }[] }} StateHistory */
/** @typedef {{ state: State, reason: string | null, at: string, ms: number, start: number, length: number }} Span */

/**
 * The start and the length are fractions of the whole time.
 * @param {StateHistory} history
 * @returns {Span[]}
 */
export function spansOf({ from, to, states }) {
  const begin = Date.parse(from)
  const whole = Math.max(1, Date.parse(to) - begin)
  return states.map(({ at, state, reason }, index) => {
    const start = Date.parse(at)
    const end = Date.parse(states[index + 1]?.at ?? to)
    const ms = Math.max(0, end - start)
    return { state, reason, at, ms, start: (start - begin) / whole, length: ms / whole }
  })
}

/**
 * The part of the known time in which messages could pass; null when nothing is known.
 * @param {readonly Span[]} spans
 */
export function readyShare(spans) {
  const sum = (/** @type {readonly Span[]} */ list) => list.reduce((all, { ms }) => all + ms, 0)
  const known = sum(spans)
  return known === 0 ? null : sum(spans.filter(({ state }) => state === 'ready')) / known
}
