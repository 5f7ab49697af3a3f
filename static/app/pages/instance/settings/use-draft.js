// What a visitor changed in a form and has not saved yet. Saving sends the changed fields only.

import { call, path } from '../../../lib/api.js'
import { useReload } from '../../../lib/use-reload.js'
import { useAction } from '../../../parts/action-button.js'
import { useEffect, useRef, useState } from '../../../vendor/hooks.js'

/** @typedef {{ url: string, events?: string[] }} Subscriber */
/**
 * @typedef {{
 *   owner_tag: string, inbox_id: number, spamguard_enabled: boolean, outgoing_rate_limit: number | null,
 *   network_proxy: string | null, events_webhook_url: string, events_webhook_subscribers: Subscriber[],
 *   history: { enabled: boolean, days: number }, ignore_jids: string[] | null, header_template: string | null, [field: string]: unknown,
 * }} Settings
 */
/** Undefined takes a change back. */
/** @typedef {<K extends keyof Settings & string>(field: K, value: Settings[K] | undefined) => void} Change */

/** @param {{ name: string, changes: number, onChange: () => void }} props */
export function useDraft({ name, changes, onChange }) {
  /** @type {import('../../../lib/use-load.js').Loaded<Settings>} */
  const loaded = useReload(path`instances/${name}`, changes, 0)
  const [draft, setDraft] = useState(/** @type {Partial<Settings>} */ ({}))
  const [isSaved, setSaved] = useState(false)
  const stored = useRef(/** @type {Partial<Settings>} */ ({}))
  const action = useAction()
  useEffect(() => {
    // A change stands until the page shows what is stored now. What was typed after the button was pressed is not stored.
    const done = stored.current
    stored.current = {}
    setDraft((before) => Object.fromEntries(Object.entries(before).filter(([field, value]) => value !== done[field])))
  }, [loaded.data])
  /** @type {Change} */
  const change = (field, value) => {
    setSaved(false)
    setDraft((before) => {
      const after = { ...before, [field]: value }
      if (value === undefined) delete after[field]
      return after
    })
  }
  const save = () => {
    action.run(async () => {
      await call('PATCH', path`instances/${name}`, draft)
      stored.current = draft
      setSaved(true)
      onChange()
    })
  }
  return { loaded, draft, change, save, isSaved, isBusy: action.isBusy, failure: action.failure }
}
