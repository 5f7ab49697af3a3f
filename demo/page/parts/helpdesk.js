// The agent's helpdesk: the conversations, and the answer.

import { html } from '../../../static/app/lib/html.js'
import { useTexts } from '../../../static/app/lib/languages.js'
import { texts } from '../texts.js'
import { Bubbles } from './bubbles.js'
import { WriteBox } from './write-box.js'

/** @typedef {import('../../view.ts').Bubble} Shown */

/** @param {{ snapshot: import('../../view.ts').Snapshot, attempt: import('../demo-page.js').Try }} props */
export function Helpdesk({ snapshot, attempt }) {
  const t = useTexts(texts)
  const { conversations, open } = snapshot.helpdesk
  const chosen = conversations.find(({ id }) => id === open)
  const isStopped = snapshot.broken.helpdeskStopped
  const cannotAnswer = !chosen || isStopped
  const actions = (/** @type {Shown} */ { id, isMine, isDeleted, tick }) => {
    if (!isMine || isDeleted) return null
    const fields = { conversation: open, message: Number(id) }
    const [name, label, sign] = tick === 'failed' ? ['retry', t.retry, '↻'] : ['answer-delete', t.delete, '🗑']
    return html`<button type="button" class="small" title=${label} onClick=${() => attempt(name, fields)}>
      <span aria-hidden="true">${sign}</span><span class=${tick === 'failed' ? '' : 'hidden'}>${label}</span>
    </button>`
  }
  return html`<section class="helpdesk" aria-labelledby="helpdesk-title">
    <h2 id="helpdesk-title">${t.helpdesk}</h2>
    <p class="hint">${t.helpdeskHint}</p>
    <div class="device" data-stopped=${isStopped ? '' : null}>
      <nav aria-label=${t.conversations}>
        ${conversations.length === 0 && html`<p class="empty">${t.noConversations}</p>`}
        ${conversations.map(
          ({ id, name, bubbles }) =>
            html`<button
              key=${id}
              type="button"
              aria-current=${id === open ? 'true' : null}
              onClick=${() => attempt('open', { conversation: id })}
            >
              <span class="face" aria-hidden="true">${name.slice(0, 1)}</span> ${name}
              ${id !== open && bubbles.at(-1)?.isMine === false && html`<span class="fresh">● ${t.fresh}</span>`}
            </button>`,
        )}
      </nav>
      ${isStopped && html`<p class="stopped" role="status">■ ${t.helpdeskDown}</p>`}
      <${Bubbles}
        bubbles=${chosen?.bubbles ?? []}
        label=${t.helpdesk}
        empty=${t.noMessages}
        isMarkdown=${true}
        actions=${actions}
      />
      <${WriteBox}
        label=${t.yourAnswer}
        isDisabled=${cannotAnswer}
        onSend=${(/** @type {string} */ text) => attempt('answer', { conversation: open, text })}
        onTyping=${(/** @type {boolean} */ on) => open !== null && !isStopped && attempt('typing', { conversation: open, on })}
      />
    </div>
    <h3>${t.suggestions}</h3>
    <div class="kinds">
      ${[t.answer1, t.answer2, t.answer3].map(
        (text) =>
          html`<button
            key=${text}
            type="button"
            class="quiet"
            disabled=${cannotAnswer}
            onClick=${() => attempt('answer', { conversation: open, text })}
          >
            ${text}
          </button>`,
      )}
      <button
        type="button"
        class="quiet"
        disabled=${cannotAnswer}
        onClick=${() => attempt('answer-photo', { conversation: open, text: t.photoCaption })}
      >
        <span aria-hidden="true">📷</span> ${t.answerPhoto}
      </button>
    </div>
  </section>`
}
