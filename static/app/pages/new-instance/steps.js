// The steps of the wizard and their addresses. The address holds all that a step needs, so a reload loses nothing.

import { currentPath } from '../../lib/router.js'

/** The first step is not in this list: its address needs no name. */
export const steps = /** @type {const} */ (['helpdesk', 'inbox', 'link', 'try'])

/** @typedef {(typeof steps)[number]} Step */

/** @param {string} text @returns {text is Step} */
export function isStep(text) {
  return /** @type {readonly string[]} */ (steps).includes(text)
}

/**
 * @param {string} name of the instance
 * @param {Step} step
 * @param {string | null} [tag] the owner tag of the chosen helpdesk; empty: that of the service; null: not chosen yet
 */
export function addressOf(name, step, tag = null) {
  const query = tag === null ? '' : `?${new URLSearchParams({ helpdesk: tag }).toString()}`
  return `/new-instance/${encodeURIComponent(name)}/${step}${query}`
}

/** The first step, with the name that was typed before, if any. @param {string | undefined} name */
export function firstAddress(name) {
  return name === undefined ? '/new-instance' : `/new-instance/${encodeURIComponent(name)}/name`
}

/** The chosen helpdesk that the address names. @returns {string | null} */
export function chosenTag() {
  return new URLSearchParams(currentPath().split('?', 2)[1]).get('helpdesk')
}
