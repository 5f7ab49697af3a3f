// Makes a backup of the embedded database, and lists those that there are.

import { call } from '../../lib/api.js'
import { formatBytes } from '../../lib/format.js'
import { html } from '../../lib/html.js'
import { fill, useLanguage, useTexts } from '../../lib/languages.js'
import { useReload } from '../../lib/use-reload.js'
import { ActionButton } from '../../parts/action-button.js'
import { Ago } from '../../parts/ago.js'
import { DataTable } from '../../parts/data-table.js'
import { Loaded } from '../../parts/loaded.js'
import { Notice } from '../../parts/notice.js'
import { Section } from '../../parts/section.js'
import { useState } from '../../vendor/hooks.js'
import { texts } from './texts.js'

/** @typedef {{ path: string, bytes: number, made_at: string }} Backup */

/** @param {{ isEmbedded: boolean }} props */
export function BackupSection({ isEmbedded }) {
  const t = useTexts(texts)
  return html`<${Section} title=${t.backups} wide>
    ${isEmbedded ? html`<${Backups} />` : html`<p>${t.usePgDump}</p>`}
  <//>`
}

function Backups() {
  const t = useTexts(texts)
  const language = useLanguage()
  const [made, setMade] = useState('')
  const loaded = useReload('backups')
  const make = async () => {
    setMade('')
    try {
      const backup = /** @type {Backup} */ (await call('POST', 'backup'))
      setMade(backup.path)
    } finally {
      // A proxy may have given up on a large backup, which goes on.
      loaded.reload()
    }
  }
  /** @type {import('../../parts/data-table.js').Column<Backup>[]} */
  const columns = [
    { head: t.file, cell: ({ path }) => html`<code>${path}</code>` },
    { head: t.made, cell: ({ made_at: at }) => html`<${Ago} at=${at} />` },
    { head: t.size, kind: 'number', cell: ({ bytes }) => formatBytes(language, bytes) },
  ]
  return html`
    <p>${t.backupHint}</p>
    <${ActionButton} run=${make}>${t.backupNow}<//>
    <div role="status">
      ${made !== '' && html`<${Notice} kind="good"><p>${fill(t.backupMade, { path: made })}</p><//>`}
    </div>
    <${Loaded} from=${loaded}>
      ${(/** @type {{ backups: Backup[], making_since: string | null }} */ { backups, making_since: since }) =>
        html`<${UnderWay} since=${since} onLook=${loaded.reload} />
          <${DataTable}
            caption=${t.backups}
            empty=${t.noBackup}
            columns=${columns}
            rows=${backups}
            keyOf=${(/** @type {Backup} */ { path }) => path}
          />`}
    <//>
  `
}

/** A backup that another caller waits for, or that this page stopped waiting for. @param {{ since: string | null, onLook: () => void }} props */
function UnderWay({ since, onLook }) {
  const t = useTexts(texts)
  return html`<div role="status">
    ${
      since !== null &&
      html`<${Notice} kind="warn">
        <p>${t.underWay} <${Ago} at=${since} /></p>
        <button type="button" class="quiet" onClick=${onLook}>${t.lookAgain}</button>
      <//>`
    }
  </div>`
}
