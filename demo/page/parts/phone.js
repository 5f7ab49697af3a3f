// The customer's phone: the chat with the shop, and everything else that she can send.

import { html } from '../../../static/app/lib/html.js'
import { useTexts } from '../../../static/app/lib/languages.js'
import { useEffect, useState } from '../../../static/app/vendor/hooks.js'
import { texts } from '../texts.js'
import { Bubbles } from './bubbles.js'
import { WriteBox } from './write-box.js'

/** @param {{ snapshot: import('../../view.ts').Snapshot, attempt: import('../demo-page.js').Try }} props */
export function Phone({ snapshot, attempt }) {
  const t = useTexts(texts)
  const { phone, bridge } = snapshot
  const { isLinked } = snapshot.story
  const [chat, setChat] = useState(/** @type {import('../../view.ts').Chat} */ ('customer'))
  useEffect(() => {
    setChat(phone.group === null ? 'customer' : 'group')
  }, [phone.group])
  const isGroup = chat === 'group'
  const talk = phone.bubbles.filter((each) => each.chat === 'customer')
  const hasAnswer = talk.some(({ isMine }) => !isMine)
  const hasOwn = talk.some(({ isMine, isDeleted, file }) => isMine && !isDeleted && !file)
  const presence = phone.isAnswerTyped ? t.typing : bridge.isUp && bridge.state === 'ready' ? t.online : ''
  /** @type {[icon: string, label: string, isDisabled: boolean, name: string, fields?: Record<string, string>][]} */
  const buttons = [
    ['📷', t.photo, !isLinked, 'photo', { text: t.photoCaption }],
    ['🎤', t.voice, !isLinked, 'voice'],
    ['❤️', t.reaction, !hasAnswer, 'reaction'],
    ['↩️', t.quote, !hasAnswer, 'quote', { text: t.quoteText }],
    ['👥', t.group, !isLinked, 'group', { subject: t.groupSubject, text: t.groupText }],
    phone.isCalling ? ['📵', t.hangUp, false, 'hang-up'] : ['📞', t.call, !isLinked, 'call'],
    ['✏️', t.edit, !hasOwn, 'edit', { text: t.editText }],
    ['🗑️', t.delete, !hasOwn, 'delete'],
  ]
  return html`<section class="phone" aria-labelledby="phone-title">
    <h2 id="phone-title">${t.phone}</h2>
    <p class="hint">${t.phoneHint}</p>
    <div class="device">
      <div class="bar">
        <span class="face" aria-hidden="true">${isGroup ? '👥' : 'V'}</span>
        <div>
          <strong>${isGroup ? phone.group : 'Velo'}</strong>
          <span>${isGroup ? 'Maria, Rui, Velo' : presence}</span>
        </div>
        ${phone.isCalling && html`<span class="ringing" aria-hidden="true">📞</span>`}
        ${phone.group !== null && html`<button type="button" class="switch" onClick=${() => setChat(isGroup ? 'customer' : 'group')}>${isGroup ? 'Velo' : phone.group}</button>`}
      </div>
      <${Bubbles}
        bubbles=${phone.bubbles.filter((each) => each.chat === chat)}
        label=${t.phone}
        empty=${t.noMessages}
      />
      <${WriteBox}
        label=${t.yourMessage}
        isDisabled=${!isLinked}
        onSend=${(/** @type {string} */ text) => attempt('write', { text, chat })}
      />
    </div>
    <h3>${t.kinds}</h3>
    <div class="kinds">
      ${buttons.map(
        ([icon, label, isDisabled, name, fields]) =>
          html`<button
            key=${name}
            type="button"
            class="quiet"
            disabled=${isDisabled}
            onClick=${() => {
              setChat(name === 'group' ? 'group' : 'customer')
              void attempt(name, fields)
            }}
          >
            <span aria-hidden="true">${icon}</span> ${label}
          </button>`,
      )}
    </div>
  </section>`
}
