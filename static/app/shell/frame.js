// The frame around every page: navigation, language, and the banner while the service does not answer.

import { html } from '../lib/html.js'
import { useTexts } from '../lib/languages.js'
import { useConnection } from '../lib/live.js'
import { match, usePath } from '../lib/router.js'
import { ActionButton } from '../parts/action-button.js'
import { LanguageChoice } from '../parts/language-choice.js'
import { Loaded } from '../parts/loaded.js'
import { useEffect, useErrorBoundary, useRef, useState } from '../vendor/hooks.js'
import { pages } from './pages.js'
import { texts } from './texts.js'

/** @typedef {typeof texts.en} Texts */

/** @param {{ signOut: (() => Promise<void>) | null }} props null: the service needs no token */
export function Frame({ signOut }) {
  const t = useTexts(texts)
  const path = usePath()
  const connection = useConnection()
  const content = useRef(/** @type {HTMLElement | null} */ (null))
  const found = pages.map((page) => ({ page, params: match(page.pattern, path) })).find(({ params }) => params !== null)
  const title = titleOf(found, t)
  useEffect(() => {
    document.title = `${title} · Causeway`
  }, [title])
  useEffect(() => {
    content.current?.focus()
  }, [path])
  const skip = (/** @type {Event} */ event) => {
    event.preventDefault()
    content.current?.focus()
  }
  return html`
    <a class="skip" href="#content" onClick=${skip}>${t.skip}</a>
    <header>
      <a class="brand" href="#/">Causeway</a>
      <${Navigation} current=${found?.page.pattern} />
      <div class="tools">
        <${LanguageChoice} />
        ${signOut && html`<${ActionButton} kind="quiet" run=${signOut}>${t.signOut}<//>`}
      </div>
    </header>
    <div class="banner" role="status">
      ${connection !== 'open' && html`<p>${connection === 'lost' ? t.offline : t.noNews}</p>`}
    </div>
    <main id="content" tabindex="-1" ref=${content}>
      ${found ? html`<${Lazy} key=${path} page=${found.page} params=${found.params} />` : html`<h1>${t.notFound}</h1>`}
    </main>
    <footer><a href="reference.html">${t.reference}</a></footer>
  `
}

/**
 * The name of an instance comes first: many tabs may show one each.
 * @param {{ page: import('./pages.js').PageEntry, params: Record<string, string> | null } | undefined} found
 * @param {Texts} t
 */
function titleOf(found, t) {
  if (!found) return t.notFound
  return [found.params?.['name'], t[found.page.title]].filter(Boolean).join(' · ')
}

/** @param {{ current: string | undefined }} props the pattern of the page that is shown */
function Navigation({ current }) {
  const t = useTexts(texts)
  return html`<nav aria-label=${t.navigation}>
    <ul>
      ${pages
        .filter(({ inNavigation }) => inNavigation)
        .map(
          ({ pattern, title }) =>
            html`<li key=${pattern}>
              <a href=${`#${pattern}`} aria-current=${current === pattern ? 'page' : null}>${t[title]}</a>
            </li>`,
        )}
    </ul>
  </nav>`
}

/** @typedef {{ Page: import('./pages.js').Page }} PageModule */

/** @param {{ page: import('./pages.js').PageEntry, params: Record<string, string> }} props */
function Lazy({ page, params }) {
  const [state, setState] = useState(
    /** @type {{ data: PageModule | null, error: Error | null }} */ ({ data: null, error: null }),
  )
  const load = () => {
    setState({ data: null, error: null })
    page.load().then(
      (data) => setState({ data, error: null }),
      (error) => setState({ data: null, error }),
    )
  }
  useEffect(load, [page])
  const [broken, drawAgain] = useErrorBoundary()
  const from = broken ? { data: null, error: broken, reload: drawAgain } : { ...state, reload: load }
  return html`<${Loaded} from=${from}>
    ${(/** @type {PageModule} */ { Page }) => html`<${Page} params=${params} />`}
  <//>`
}
