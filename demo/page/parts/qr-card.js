// The QR code of the service, and the button that holds the simulated phone in front of it.

import { html } from '../../../static/app/lib/html.js'
import { useTexts } from '../../../static/app/lib/languages.js'
import { useEffect, useState } from '../../../static/app/vendor/hooks.js'
import { texts } from '../texts.js'

/** The service draws a new code every 20 s, and a new series of codes after two minutes. */
const lookAgainMs = 1000

/** @param {{ snapshot: import('../../view.ts').Snapshot, attempt: import('../demo-page.js').Try }} props */
export function QrCard({ snapshot, attempt }) {
  const t = useTexts(texts)
  const [picture, setPicture] = useState('')
  const [isScanning, setScanning] = useState(false)
  const { isUp } = snapshot.bridge
  useEffect(() => {
    let round = 0
    const look = () => {
      const address = `/qr.png?${++round}`
      const image = new Image()
      image.addEventListener('load', () => setPicture(address))
      // There is none at the moment.
      image.addEventListener('error', () => setPicture(''))
      image.src = address
    }
    if (!isUp) return undefined
    look()
    const timer = setInterval(look, lookAgainMs)
    return () => clearInterval(timer)
  }, [isUp])
  const scan = () => {
    setScanning(true)
    void attempt('scan', { text: t.greeting }).then((isLinked) => setScanning(isLinked))
  }
  return html`<div class="code card">
    <h3>${t.qrTitle}</h3>
    ${picture === '' ? html`<p class="placeholder" aria-busy="true">${t.loading}</p>` : html`<img src=${picture} alt=${t.qrAlt} width="240" height="240" />`}
    <button type="button" class="scan" disabled=${picture === '' || isScanning} onClick=${scan}>
      <span aria-hidden="true">📱</span> ${isScanning ? t.scanning : t.scan}
    </button>
    <p class="hint">${t.qrHint}</p>
  </div>`
}
