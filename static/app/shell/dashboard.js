// The whole dashboard: the language, whether the visitor is signed in, and the frame around the page.

import { ApiError, call, get, onSignedOut } from '../lib/api.js'
import { html } from '../lib/html.js'
import { firstLanguage, LanguageContext, rememberLanguage } from '../lib/languages.js'
import { connectLive, disconnectLive } from '../lib/live.js'
import { SignInPage } from '../pages/sign-in/sign-in-page.js'
import { Loaded } from '../parts/loaded.js'
import { useEffect, useMemo, useState } from '../vendor/hooks.js'
import { Frame } from './frame.js'

/** open: the service needs no token. @typedef {'in' | 'out' | 'open'} Access */
/** @typedef {import('../lib/use-load.js').Loaded<Access>} LoadedAccess */

/** What the actor of a session may see. */
const accessOf = /** @type {const} */ ({ dashboard: 'in', api: 'open', none: 'out' })

export function Dashboard() {
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
  return html`<${LanguageContext.Provider} value=${chosen}><${Door} /><//>`
}

/** Shows the pages to a visitor who is signed in, and the question for the token to others. */
function Door() {
  const { setAccess, ...access } = useAccess()
  useEffect(() => {
    if (access.data === 'in' || access.data === 'open') connectLive()
    else disconnectLive()
  }, [access.data])
  const signOut = async () => {
    await call('DELETE', 'session')
    setAccess('out')
  }
  return html`<${Loaded} from=${access}>
    ${(/** @type {Access} */ data) =>
      data === 'out'
        ? html`<${SignInPage} onSignedIn=${() => setAccess('in')} />`
        : html`<${Frame} signOut=${data === 'in' ? signOut : null} />`}
  <//>`
}

/** @returns {LoadedAccess & { setAccess: (access: Access) => void }} */
function useAccess() {
  const [state, setState] = useState(/** @type {Pick<LoadedAccess, 'data' | 'error'>} */ ({ data: null, error: null }))
  const setAccess = (/** @type {Access} */ data) => setState({ data, error: null })
  const reload = () => {
    get('session').then(
      (session) => setAccess(accessOf[/** @type {{ actor: keyof typeof accessOf }} */ (session).actor ?? 'none']),
      (error) => {
        if (!(error instanceof ApiError && error.status === 401)) setState({ data: null, error })
      },
    )
  }
  useEffect(() => onSignedOut(() => setAccess('out')), [])
  useEffect(reload, [])
  return { ...state, reload, setAccess }
}
