// The words of the section that links the phone.

/** @satisfies {import('../../../lib/languages.js').Texts<Record<string, string>>} */
export const texts = {
  en: { title: 'Link the phone' },
  'pt-BR': { title: 'Vincular o telefone' },
  es: { title: 'Vincular el teléfono' },
}
