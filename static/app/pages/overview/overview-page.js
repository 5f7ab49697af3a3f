// The first page: what needs the operator, and every instance.

import { html } from '../../lib/html.js'
import { useLoad } from '../../lib/use-load.js'
import { Loaded } from '../../parts/loaded.js'

/** @typedef {{ instances: { name: string, state: string }[] }} Overview */

export function Page() {
  const overview = useLoad('overview')
  return html`<${Loaded} from=${overview}>
    ${(/** @type {Overview} */ { instances }) =>
      html`<ul>
        ${instances.map(({ name }) => html`<li>${name}</li>`)}
      </ul>`}
  <//>`
}
