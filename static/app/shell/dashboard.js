// The whole dashboard: the language, whether the visitor is signed in, and the frame around the page.

import { call, get, onSignedOut } from '../lib/api.js'
import { html } from '../lib/html.js'
import { firstLanguage, LanguageContext, rememberLanguage } from '../lib/languages.js'
import { connectLive, disconnectLive } from '../lib/live.js'
import { SignInPage } from '../pages/sign-in/sign-in-page.js'
import { useEffect, useMemo, useState } from '../vendor/hooks.js'
import { Frame } from './frame.js'

/** @typedef {'unknown' | 'in' | 'out'} SignedIn */

export function Dashboard() {
  const [language, setLanguage] = useState(firstLanguage())
  const [signedIn, setSignedIn] = useState(/** @type {SignedIn} */ ('unknown'))
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])
  useEffect(() => onSignedOut(() => setSignedIn('out')), [])
  useEffect(() => {
    get('session').then(
      (session) => setSignedIn(/** @type {{ actor: string | null }} */ (session).actor === null ? 'out' : 'in'),
      () => setSignedIn('out'),
    )
  }, [])
  useEffect(() => {
    if (signedIn === 'in') connectLive()
    else disconnectLive()
  }, [signedIn])
  const chosen = useMemo(() => {
    const choose = (/** @type {typeof language} */ value) => {
      rememberLanguage(value)
      setLanguage(value)
    }
    return { language, choose }
  }, [language])
  const signOut = () => {
    void call('DELETE', 'session').finally(() => setSignedIn('out'))
  }
  return html`<${LanguageContext.Provider} value=${chosen}>
    ${signedIn === 'in' && html`<${Frame} onSignOut=${signOut} />`}
    ${signedIn === 'out' && html`<${SignInPage} onSignedIn=${() => setSignedIn('in')} />`}
  <//>`
}
