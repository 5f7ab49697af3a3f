// The languages of the pages. Each page has its own texts, in all languages side by side.

import { createContext } from '../vendor/preact.js'
import { useContext } from '../vendor/hooks.js'

/** @typedef {'en' | 'pt-BR' | 'es'} Language */
/**
 * @template {Record<string, string>} T
 * @typedef {{ en: T, 'pt-BR': { [K in keyof T]: string }, es: { [K in keyof T]: string } }} Texts
 */

/** @type {Record<Language, string>} */
export const languages = { en: 'English', 'pt-BR': 'Português (Brasil)', es: 'Español' }

const storageKey = 'causeway.language'

/**
 * The languages that the browser asks for, best first.
 * @param {readonly string[]} asked
 * @returns {Language}
 */
export function bestLanguage(asked) {
  for (const tag of asked) {
    const main = tag.toLowerCase().split('-', 1)[0]
    if (main === 'en') return 'en'
    if (main === 'pt') return 'pt-BR'
    if (main === 'es') return 'es'
  }
  return 'en'
}

/** @returns {Language} */
export function firstLanguage() {
  const chosen = localStorage.getItem(storageKey)
  if (chosen !== null && Object.hasOwn(languages, chosen)) return /** @type {Language} */ (chosen)
  return bestLanguage(navigator.languages)
}

/** @param {Language} language */
export function rememberLanguage(language) {
  localStorage.setItem(storageKey, language)
}

/** @typedef {{ language: Language, choose: (language: Language) => void }} ChosenLanguage */

export const LanguageContext = createContext(
  /** @type {ChosenLanguage} */ ({ language: 'en', choose: () => undefined }),
)

/** @returns {Language} */
export function useLanguage() {
  return useContext(LanguageContext).language
}

/**
 * The texts of a page in the language of the visitor.
 * @template {Record<string, string>} T
 * @param {Texts<T>} texts
 * @returns {{ [K in keyof T]: string }}
 */
export function useTexts(texts) {
  return texts[useLanguage()]
}

/**
 * Puts values into the places of a text: `{name}` becomes the value of `name`.
 * @param {string} text
 * @param {Record<string, string | number>} values
 */
export function fill(text, values) {
  return text.replaceAll(/\{(\w+)\}/g, (place, name) => String(values[name] ?? place))
}
