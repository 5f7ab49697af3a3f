// The words of the check list.

/** @satisfies {import('../../../lib/languages.js').Texts<Record<string, string>>} */
export const texts = {
  en: {
    title: 'Check list',
    allFine: 'Everything is as it should be.',
    fine: 'Checks that are fine: {count}',
    roundTrip: 'Also test the round trip',
    roundTripHint:
      'The operations contact types in its conversation, and the helpdesk must call the service. This takes up to 20 seconds.',
  },
  'pt-BR': {
    title: 'Lista de verificação',
    allFine: 'Tudo está como deve.',
    fine: 'Verificações em ordem: {count}',
    roundTrip: 'Testar também a ida e volta',
    roundTripHint:
      'O contato de operações digita em sua conversa, e a central deve chamar o serviço. Leva até 20 segundos.',
  },
  es: {
    title: 'Lista de comprobación',
    allFine: 'Todo está como debe.',
    fine: 'Comprobaciones en orden: {count}',
    roundTrip: 'Probar también la ida y vuelta',
    roundTripHint:
      'El contacto de operaciones escribe en su conversación, y la mesa de ayuda debe llamar al servicio. Tarda hasta 20 segundos.',
  },
}
