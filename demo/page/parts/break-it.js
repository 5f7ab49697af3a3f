// The ways to break something. Each button mends what it broke.

import { html } from '../../../static/app/lib/html.js'
import { useTexts } from '../../../static/app/lib/languages.js'
import { texts } from '../texts.js'

/** @param {{ snapshot: import('../../view.ts').Snapshot, attempt: import('../demo-page.js').Try }} props */
export function BreakIt({ snapshot: { broken }, attempt }) {
  const t = useTexts(texts)
  return html`<div class="break">
    <h3>${t.breakIt}</h3>
    <p class="hint">${t.breakHint}</p>
    <div class="kinds">
      <${Switch}
        isOn=${broken.networkCut}
        labels=${[`✂️ ${t.cut}`, `🔌 ${t.restore}`]}
        onClick=${() => attempt(broken.networkCut ? 'restore-network' : 'cut-network')}
      />
      <${Switch}
        isOn=${broken.helpdeskStopped}
        labels=${[`⏹️ ${t.stop}`, `▶️ ${t.start}`]}
        onClick=${() => attempt(broken.helpdeskStopped ? 'start-helpdesk' : 'stop-helpdesk')}
      />
      <${Switch}
        isOn=${broken.twice}
        labels=${[`🔁 ${t.twiceOn}`, `1️⃣ ${t.twiceOff}`]}
        onClick=${() => attempt('twice', { on: !broken.twice })}
      />
      <button
        type="button"
        class="danger"
        disabled=${broken.killed}
        onClick=${() => attempt('kill', { text: t.killText, later: t.killLater })}
      >
        💥 ${broken.killed ? t.killing : t.kill}
      </button>
    </div>
  </div>`
}

/** @param {{ isOn: boolean, labels: [off: string, on: string], onClick: () => void }} props */
function Switch({ isOn, labels, onClick }) {
  return html`<button type="button" class=${isOn ? 'mend' : 'quiet'} onClick=${onClick}>
    ${labels[isOn ? 1 : 0]}
  </button>`
}
