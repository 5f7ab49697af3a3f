// The helpdesks: where messages go and what is wrong there, and the tenants with their access.

import { html } from '../../lib/html.js'
import { useTexts } from '../../lib/languages.js'
import { useLive } from '../../lib/live.js'
import { useLoad } from '../../lib/use-load.js'
import { Loaded } from '../../parts/loaded.js'
import { DestinationList } from './destinations/destination-list.js'
import { TenantList } from './tenants/tenant-list.js'
import { texts } from './texts.js'

/** @typedef {import('./destinations/destination-list.js').Destination} Destination */
/** @typedef {import('./tenants/tenant-card.js').Tenant} Tenant */

export function Page() {
  const t = useTexts(texts)
  const destinations = useLoad('destinations')
  const tenants = useLoad('tenants')
  const reload = () => {
    destinations.reload()
    tenants.reload()
  }
  useLive(['hello', 'reset', 'destination'], destinations.reload, [destinations.reload])
  return html`
    <h1>${t.title}</h1>
    <section aria-labelledby="destinations">
      <h2 id="destinations">${t.destinations}</h2>
      <p class="soft">${t.destinationsHint}</p>
      <${Loaded} from=${destinations}>
        ${(/** @type {Destination[]} */ list) => html`<${DestinationList} destinations=${list} />`}
      <//>
    </section>
    <section aria-labelledby="tenants">
      <h2 id="tenants">${t.tenants}</h2>
      <p class="soft">${t.tenantsHint}</p>
      <${Loaded} from=${tenants}>
        ${(/** @type {Tenant[]} */ list) => html`<${TenantList} tenants=${list} onChange=${reload} />`}
      <//>
    </section>
  `
}
