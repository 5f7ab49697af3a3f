// The QR code that the phone scans. WhatsApp changes it about every 20 seconds; the newest one is shown.

import { apiUrl, get, path } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { useTexts } from '../../lib/languages.js'
import { useLive } from '../../lib/live.js'
import { useCallback, useEffect, useRef, useState } from '../../vendor/hooks.js'
import { texts } from './texts.js'

/** @typedef {{ qr: { available: boolean, generated_at: string | null } }} Detail */

/** @param {{ name: string }} props */
export function QrCode({ name }) {
  const t = useTexts(texts)
  const [code, setCode] = useState(/** @type {string | null} */ (null))
  /** Counts the events: an answer that was asked for before the newest one is old. */
  const events = useRef(0)
  const reload = useCallback(() => {
    const asked = events.current
    get(path`instances/${name}`).then(
      (detail) => {
        const { qr } = /** @type {Detail} */ (detail)
        if (asked === events.current) setCode(qr.available ? (qr.generated_at ?? '') : null)
      },
      () => {
        if (asked === events.current) setCode(null)
      },
    )
  }, [name])
  useEffect(reload, [reload])
  useLive(['hello', 'reset'], reload, [reload])
  useLive(
    ['qr'],
    (/** @type {{ name: string, available: boolean, expires_at: string | null }} */ event) => {
      if (event.name !== name) return
      events.current += 1
      setCode(event.available ? event.expires_at : null)
    },
    [name],
  )
  // The browser asks again only for another address.
  const source = code === null ? null : `${apiUrl(path`instances/${name}/qr`)}?code=${encodeURIComponent(code)}`
  return html`
    <ol class="how">
      <li>${t.openPhone}</li>
      <li>${t.openLinked}</li>
      <li>${t.scan}</li>
    </ol>
    <div class="qr">
      ${
        source === null
          ? html`<p aria-busy="true">${t.onItsWay}</p>`
          : html`<img
              key=${code}
              src=${source}
              width="276"
              height="276"
              alt=${t.qrAlt}
              onError=${() => setCode(null)}
            />`
      }
    </div>
    <p class="hint">${t.changes}</p>
  `
}
