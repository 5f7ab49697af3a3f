// The frame around every page: navigation, language, and the banner while the service does not answer.

import { html } from '../lib/html.js'
import { useTexts } from '../lib/languages.js'
import { useOnline } from '../lib/live.js'
import { match, usePath } from '../lib/router.js'
import { LanguageChoice } from '../parts/language-choice.js'
import { useEffect, useRef, useState } from '../vendor/hooks.js'
import { pages } from './pages.js'
import { texts } from './texts.js'

/** @param {{ onSignOut: () => void }} props */
export function Frame({ onSignOut }) {
  const t = useTexts(texts)
  const path = usePath()
  const isOnline = useOnline()
  const content = useRef(/** @type {HTMLElement | null} */ (null))
  const found = pages.map((page) => ({ page, params: match(page.pattern, path) })).find(({ params }) => params !== null)
  const title = found ? t[found.page.title] : t.notFound
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
      <nav aria-label=${t.navigation}>
        <ul>
          ${pages
            .filter(({ inNavigation }) => inNavigation)
            .map(
              ({ pattern, title: name }) =>
                html`<li key=${pattern}>
                  <a href=${`#${pattern}`} aria-current=${found?.page.pattern === pattern ? 'page' : null}
                    >${t[name]}</a
                  >
                </li>`,
            )}
        </ul>
      </nav>
      <div class="tools">
        <${LanguageChoice} />
        <button type="button" class="quiet" onClick=${onSignOut}>${t.signOut}</button>
      </div>
    </header>
    <div class="banner" role="status">${!isOnline && html`<p>${t.offline}</p>`}</div>
    <main id="content" tabindex="-1" ref=${content}>
      ${found ? html`<${Lazy} key=${path} page=${found.page} params=${found.params} />` : html`<p>${t.notFound}</p>`}
    </main>
    <footer><a href="reference.html">${t.reference}</a></footer>
  `
}

/** @param {{ page: import('./pages.js').PageEntry, params: Record<string, string> }} props */
function Lazy({ page, params }) {
  const t = useTexts(texts)
  const [loaded, setLoaded] = useState(/** @type {{ Page: import('./pages.js').Page } | null} */ (null))
  useEffect(() => {
    void page.load().then(setLoaded)
  }, [page])
  return loaded ? html`<${loaded.Page} params=${params} />` : html`<p>${t.loading}</p>`
}
