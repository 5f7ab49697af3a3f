// What the service warned of, and what was done with it.

import { html } from '../../lib/html.js'
import { useTexts } from '../../lib/languages.js'
import { AuditLog } from './audit-log.js'
import { texts } from './texts.js'
import { WarningLog } from './warning-log.js'

export function Page() {
  const t = useTexts(texts)
  return html`
    <h1>${t.title}</h1>
    <div class="sections">
      <${WarningLog} />
      <${AuditLog} />
    </div>
  `
}
