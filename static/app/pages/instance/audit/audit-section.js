// What was done to the instance.

import { path } from '../../../lib/api.js'
import { html } from '../../../lib/html.js'
import { useTexts } from '../../../lib/languages.js'
import { useReload } from '../../../lib/use-reload.js'
import { AuditTable } from '../../../parts/audit/audit-table.js'
import { texts } from '../../../parts/audit/texts.js'
import { Loaded } from '../../../parts/loaded.js'
import { Section } from '../../../parts/section.js'

/** @typedef {import('../../../parts/audit/audit-table.js').AuditEntry} AuditEntry */

/** @param {{ row: import('../../../lib/use-instance.js').Row, changes: number }} props */
export function AuditSection({ row: { name, state }, changes }) {
  const t = useTexts(texts)
  const loaded = useReload(path`audit?instance=${name}&limit=20`, `${state} ${changes}`)
  return html`<${Section} title=${t.caption} wide>
    <${Loaded} from=${loaded}>
      ${(/** @type {{ entries: AuditEntry[] }} */ { entries }) => html`<${AuditTable} entries=${entries} />`}
    <//>
  <//>`
}
