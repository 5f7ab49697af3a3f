// Links the phone, while the account is not linked.

import { html } from '../../../lib/html.js'
import { useTexts } from '../../../lib/languages.js'
import { needsPhone, Pairing } from '../../../parts/pairing/pairing.js'
import { Section } from '../../../parts/section.js'
import { texts } from './texts.js'

/** @param {{ row: import('../../../lib/use-instance.js').Row }} props */
export function PairingSection({ row }) {
  const t = useTexts(texts)
  if (!needsPhone(row)) return null
  return html`<${Section} title=${t.title} wide><${Pairing} row=${row} /><//>`
}
