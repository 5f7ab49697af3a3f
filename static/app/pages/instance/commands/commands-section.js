// Restart, logout and delete. Each asks for the name of the instance.

import { call, path } from '../../../lib/api.js'
import { html } from '../../../lib/html.js'
import { useTexts } from '../../../lib/languages.js'
import { currentPath, goOn } from '../../../lib/router.js'
import { Failure, useAction } from '../../../parts/action-button.js'
import { AskName } from '../../../parts/ask-name.js'
import { Section } from '../../../parts/section.js'
import { useState } from '../../../vendor/hooks.js'
import { texts } from './texts.js'

/** @typedef {'restart' | 'logout' | 'remove'} Command */
/** @typedef {{ message: string, pending_logout?: boolean }} Answer */

/**
 * @param {{
 *   row: import('../../../lib/use-instance.js').Row, onChange: () => void, onFarewell: (message: string) => void,
 * }} props `onFarewell`: the instance is deleted, and there is something left to do
 */
export function CommandsSection({ row: { name }, onChange, onFarewell }) {
  const t = useTexts(texts)
  const [asked, setAsked] = useState(/** @type {Command | null} */ (null))
  const [alsoLogout, setAlsoLogout] = useState(false)
  const [done, setDone] = useState('')
  const { isBusy, failure, run } = useAction()
  /** @type {Record<Command, { consequence: string, send: () => Promise<Answer> }>} */
  const commands = {
    restart: { consequence: t.restartHint, send: () => call('POST', path`instances/${name}/restart`) },
    logout: { consequence: t.logoutHint, send: () => call('POST', path`instances/${name}/logout`) },
    remove: {
      consequence: alsoLogout ? t.removeLogoutHint : t.removeHint,
      send: () => call('DELETE', `${path`instances/${name}`}?logout=${alsoLogout}`),
    },
  }
  const confirm = (/** @type {Command} */ command) => () => {
    setAsked(null)
    setDone('')
    const here = currentPath()
    run(async () => {
      const { message, pending_logout: isPending = false } = await commands[command].send()
      if (command === 'remove' && isPending) onFarewell(message)
      else if (command === 'remove') goOn(here, '/')
      setDone(message)
      onChange()
    })
  }
  const button = (/** @type {Command} */ command, kind = 'danger') =>
    html`<button
      type="button"
      class=${kind}
      aria-disabled=${isBusy ? 'true' : null}
      onClick=${() => !isBusy && setAsked(command)}
    >
      ${t[command]}
    </button>`
  return html`<${Section} title=${t.title} wide>
    <p class="hint">${t.hint}</p>
    <div class="actions">${button('restart', 'quiet')} ${button('logout')} ${button('remove')}</div>
    <label class="choice">
      <input type="checkbox" checked=${alsoLogout} onChange=${() => setAlsoLogout(!alsoLogout)} />
      ${t.alsoLogout}
    </label>
    <p role="status">${isBusy ? t.working : done}</p>
    <${Failure} failure=${failure} />
    ${
      asked !== null &&
      html`<${AskName}
        name=${name}
        title=${t[asked]}
        consequence=${commands[asked].consequence}
        confirm=${t[asked]}
        onConfirm=${confirm(asked)}
        onCancel=${() => setAsked(null)}
      />`
    }
  <//>`
}
