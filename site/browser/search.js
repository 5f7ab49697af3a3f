// The search page: finds sections of the documents as the visitor types.

{
  const mostResults = 30
  const before = 60
  const after = 140

  const index = MiniSearch.loadJS(searchIndex, {
    idField: 'address',
    fields: ['page', 'heading', 'text'],
    storeFields: ['address', 'page', 'heading', 'text'],
    searchOptions: { boost: { page: 3, heading: 4 }, prefix: true, combineWith: 'AND' },
  })

  const box = /** @type {HTMLInputElement} */ (document.querySelector('input[name=q]'))
  const found = /** @type {HTMLElement} */ (document.getElementById('found'))
  const results = /** @type {HTMLElement} */ (document.getElementById('results'))

  /** @typedef {import('minisearch').SearchResult & import('../search/entry.ts').Entry} Result */

  /**
   * The words around the first match.
   * @param {Result} result
   */
  function excerptOf({ text, terms }) {
    const lower = text.toLowerCase()
    const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0)
    const start = Math.max(0, Math.min(...places, lower.length) - before)
    const from = places.length === 0 || start === 0 ? 0 : text.indexOf(' ', start) + 1
    const end = text.indexOf(' ', from + before + after)
    return `${from > 0 ? '… ' : ''}${end < 0 ? text.slice(from) : `${text.slice(from, end)} …`}`
  }

  /** @param {Result} result */
  function itemOf(result) {
    const link = document.createElement('a')
    link.href = result.address
    link.textContent = result.heading === result.page ? result.page : `${result.page}: ${result.heading}`
    const excerpt = document.createElement('p')
    excerpt.textContent = excerptOf(result)
    const item = document.createElement('li')
    item.append(link, excerpt)
    return item
  }

  /** @param {number} count */
  function sentenceFor(count) {
    if (count === 0) return 'No section has all of these words.'
    if (count > mostResults) return `${count} sections. The best ${mostResults} are shown.`
    return count === 1 ? '1 section.' : `${count} sections.`
  }

  function show() {
    const words = box.value.trim()
    const all = /** @type {Result[]} */ (words === '' ? [] : index.search(words))
    found.textContent = words === '' ? 'Type a word.' : sentenceFor(all.length)
    results.replaceChildren(...all.slice(0, mostResults).map(itemOf))
  }

  box.value = new URLSearchParams(location.search).get('q') ?? ''
  box.addEventListener('input', show)
  show()
}
