// The settings that differ from their defaults, versions, backups and the file for support.

import { get } from '../../lib/api.js'
import { download } from '../../lib/download.js'
import { html } from '../../lib/html.js'
import { useTexts } from '../../lib/languages.js'
import { useReload } from '../../lib/use-reload.js'
import { ActionButton } from '../../parts/action-button.js'
import { DataTable } from '../../parts/data-table.js'
import { Loaded } from '../../parts/loaded.js'
import { Section } from '../../parts/section.js'
import { BackupSection } from './backup-section.js'
import { texts } from './texts.js'

/** @typedef {{ name: string, value: string, default: string, secret: boolean }} Setting */
/** @typedef {'service' | 'node' | 'library' | 'sqlite' | 'postgres' | 'client'} Part */
/** @typedef {{ settings: Setting[], versions: Partial<Record<Part, string>> }} Settings */

/** The bundle does not wait for the settings: it is needed most when something cannot be read. */
export function Page() {
  const t = useTexts(texts)
  const loaded = useReload('settings')
  return html`
    <h1>${t.title}</h1>
    <div class="sections">
      <${BundleSection} />
      <${Loaded} from=${loaded}>
        ${(/** @type {Settings} */ { settings, versions }) => html`
          <${Versions} versions=${versions} />
          <${BackupSection} isEmbedded=${versions.postgres === undefined} />
          <${Differing} settings=${settings} />
        `}
      <//>
    </div>
  `
}

/** @param {{ versions: Settings['versions'] }} props */
function Versions({ versions }) {
  const t = useTexts(texts)
  const parts = /** @type {[Part, string][]} */ (Object.entries(versions))
  return html`<${Section} title=${t.versions}>
    <dl class="facts">
      ${parts.map(
        ([part, version]) =>
          html`<div key=${part}>
            <dt>${t[part]}</dt>
            <dd>${version}</dd>
          </div>`,
      )}
    </dl>
  <//>`
}

/** @param {{ settings: readonly Setting[] }} props */
function Differing({ settings }) {
  const t = useTexts(texts)
  const word = (/** @type {string} */ value) => value || html`<span class="soft">${t.empty}</span>`
  /** @type {import('../../parts/data-table.js').Column<Setting>[]} */
  const columns = [
    { head: t.name, cell: ({ name }) => html`<code>${name}</code>` },
    { head: t.value, cell: ({ value, secret }) => (secret ? t.secret : word(value)) },
    { head: t.standard, cell: ({ default: standard }) => word(standard) },
  ]
  return html`<${Section} title=${t.differing} wide>
    <p class="soft">${t.differingHint}</p>
    <${DataTable}
      caption=${t.differing}
      empty=${t.noDifference}
      columns=${columns}
      rows=${settings}
      keyOf=${(/** @type {Setting} */ { name }) => name}
    />
  <//>`
}

function BundleSection() {
  const t = useTexts(texts)
  const save = async () => {
    const bundle = /** @type {{ made_at: string }} */ (await get('support-bundle'))
    const name = `causeway-support-${bundle.made_at.replaceAll(/[:.]/g, '-')}.json`
    // People read the file before they pass it on.
    download(name, 'application/json', JSON.stringify(bundle, null, 2))
  }
  return html`<${Section} title=${t.bundle}>
    <p>${t.bundleHint}</p>
    <${ActionButton} run=${save}>${t.bundleNow}<//>
  <//>`
}
