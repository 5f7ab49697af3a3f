// The words of a test of a helpdesk.

/** @satisfies {import('../../lib/languages.js').Texts<Record<string, string>>} */
export const texts = {
  en: {
    test: 'Test',
    testing: 'The helpdesk is tested …',
    testAgain: 'Test again',
  },
  'pt-BR': {
    test: 'Teste',
    testing: 'A central está sendo testada …',
    testAgain: 'Testar de novo',
  },
  es: {
    test: 'Prueba',
    testing: 'Se prueba la mesa de ayuda …',
    testAgain: 'Probar de nuevo',
  },
}
