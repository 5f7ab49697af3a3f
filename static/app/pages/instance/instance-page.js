// One instance: what it does now, what it did, its settings. Each section loads its own data.

import { html } from '../../lib/html.js'
import { fill, useTexts } from '../../lib/languages.js'
import { useInstance } from '../../lib/use-instance.js'
import { Loaded } from '../../parts/loaded.js'
import { Notice } from '../../parts/notice.js'
import { useState } from '../../vendor/hooks.js'
import { AuditSection } from './audit/audit-section.js'
import { CheckSection } from './check/check-section.js'
import { CommandsSection } from './commands/commands-section.js'
import { DeliveriesSection } from './deliveries/deliveries-section.js'
import { Facts } from './facts/facts.js'
import { PairingSection } from './pairing/pairing-section.js'
import { OutboxSection } from './queues/outbox-section.js'
import { ParkedSection } from './queues/parked-section.js'
import { RiskSection } from './risk/risk-section.js'
import { SettingsSection } from './settings/settings-section.js'
import { StatesSection } from './states/states-section.js'
import { SubscribersSection } from './subscribers/subscribers-section.js'
import { texts } from './texts.js'
import { UsageSection } from './usage/usage-section.js'

/** @param {{ params: Record<string, string> }} props */
export function Page({ params: { name = '' } }) {
  const t = useTexts(texts)
  const instance = useInstance(name)
  const [farewell, setFarewell] = useState('')
  return html`<h1>${name}</h1>
    <${Loaded} from=${instance}>
      ${(/** @type {NonNullable<typeof instance.data>} */ { row }) =>
        row && farewell === ''
          ? html`<${Sections} row=${row} onFarewell=${setFarewell} />`
          : html`<${Notice} kind="warn" role="status">
              <p>${farewell || fill(t.missing, { name })}</p>
              <p><a href="#/">${t.back}</a></p>
            <//>`}
    <//>`
}

/** @param {{ row: import('../../lib/use-instance.js').Row, onFarewell: (message: string) => void }} props */
function Sections({ row, onFarewell }) {
  const { name } = row
  // What visitors change here shows in other sections.
  const [changes, setChanges] = useState(0)
  const onChange = () => {
    setChanges((before) => before + 1)
  }
  return html`<${Facts} row=${row} />
    <div class="sections">
      <${PairingSection} row=${row} />
      <${StatesSection} row=${row} />
      <${CheckSection} name=${name} />
      <${OutboxSection} row=${row} />
      <${RiskSection} row=${row} />
      <${ParkedSection} row=${row} />
      <${UsageSection} row=${row} />
      <${DeliveriesSection} name=${name} />
      <${AuditSection} row=${row} changes=${changes} />
      <${SettingsSection} name=${name} changes=${changes} onChange=${onChange} />
      <${SubscribersSection} name=${name} changes=${changes} onChange=${onChange} />
      <${CommandsSection} row=${row} onChange=${onChange} onFarewell=${onFarewell} />
    </div>`
}
