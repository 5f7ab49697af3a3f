// The template tag of the pages. Values in a template become text or attributes, never markup.

import htm from '../vendor/htm.js'
import { h } from '../vendor/preact.js'

/** @typedef {import('preact').ComponentChildren} Children */
/** @typedef {import('preact').VNode} Node */

export const html = htm.bind(/** @type {() => Node} */ (/** @type {unknown} */ (h)))
