// The whole page: the customer's phone, the bridge in the middle, and the agent's helpdesk.

import { html } from '../../static/app/lib/html.js'
import { fill, firstLanguage, LanguageContext, rememberLanguage, useTexts } from '../../static/app/lib/languages.js'
import { LanguageChoice } from '../../static/app/parts/language-choice.js'
import { useEffect, useMemo, useState } from '../../static/app/vendor/hooks.js'
import { act, useSnapshot } from './act.js'
import { Bridge } from './parts/bridge.js'
import { Helpdesk } from './parts/helpdesk.js'
import { OwnPhone } from './parts/own-phone.js'
import { Phone } from './parts/phone.js'
import { Steps } from './parts/steps.js'
import { texts } from './texts.js'

/** @typedef {(name: string, fields?: Record<string, unknown>) => Promise<boolean>} Try resolves with whether it was done */

export function DemoPage() {
  const [language, setLanguage] = useState(firstLanguage())
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])
  const chosen = useMemo(() => {
    const choose = (/** @type {typeof language} */ value) => {
      rememberLanguage(value)
      setLanguage(value)
    }
    return { language, choose }
  }, [language])
  return html`<${LanguageContext.Provider} value=${chosen}><${Columns} /><//>`
}

function Columns() {
  const t = useTexts(texts)
  const { snapshot, isOver } = useSnapshot()
  const [failure, setFailure] = useState('')
  const [isOwnShown, setOwnShown] = useState(false)
  /** @type {Try} */
  const attempt = async (name, fields) => {
    setFailure('')
    try {
      await act(name, fields)
      return true
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error))
      return false
    }
  }
  useEffect(() => {
    document.title = t.title
  }, [t])
  if (!snapshot)
    return html`<main class="loading">
      <h1>Causeway</h1>
      <p aria-busy="true">${t.loading}</p>
    </main>`
  return html`
    <header>
      <span class="brand">Causeway</span>
      <h1>${t.title}</h1>
      <div class="tools">
        <button type="button" class="own quiet" onClick=${() => setOwnShown(true)}>${t.own}</button>
        <${LanguageChoice} />
      </div>
    </header>
    <main>
      <p class="lead">${t.lead}</p>
      <${Steps} snapshot=${snapshot} onOwn=${() => setOwnShown(true)} />
      <div class="banner" role="status">
        ${isOver && html`<p>${t.over}</p>`}${failure !== '' && html`<p>${failure}</p>`}
      </div>
      <div class="columns">
        <${Phone} snapshot=${snapshot} attempt=${attempt} />
        <${Bridge} snapshot=${snapshot} attempt=${attempt} />
        <${Helpdesk} snapshot=${snapshot} attempt=${attempt} />
      </div>
    </main>
    <footer>
      <a href=${snapshot.helpdesk.url} target="_blank" rel="noreferrer">${t.agentView}</a>
      ${' · '}<a href=${`${snapshot.bridge.url}/`} target="_blank" rel="noreferrer">${t.dashboard}</a> ${' · '}<span
        >${fill(t.process, { pid: snapshot.bridge.pid ?? '–', starts: snapshot.bridge.starts })}</span
      >
    </footer>
    ${isOwnShown && html`<${OwnPhone} bridgeUrl=${snapshot.bridge.url} onClose=${() => setOwnShown(false)} />`}
  `
}
