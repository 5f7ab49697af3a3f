// The texts around the lists of helpdesks.

/** @satisfies {import('../../lib/languages.js').Texts<Record<string, string>>} */
export const texts = {
  en: {
    title: 'Helpdesks',
    destinations: 'Where messages go',
    destinationsHint: 'Each inbox of a helpdesk that gets messages, and what is wrong with it.',
    tenants: 'Tenants',
    tenantsHint: 'A tenant is a helpdesk of its own for the instances with its owner tag.',
  },
  'pt-BR': {
    title: 'Centrais de atendimento',
    destinations: 'Para onde vão as mensagens',
    destinationsHint: 'Cada caixa de entrada que recebe mensagens, e o que há de errado com ela.',
    tenants: 'Locatários',
    tenantsHint: 'Um locatário é uma central própria para as instâncias com o seu owner tag.',
  },
  es: {
    title: 'Mesas de ayuda',
    destinations: 'Adónde van los mensajes',
    destinationsHint: 'Cada bandeja que recibe mensajes, y qué le pasa.',
    tenants: 'Inquilinos',
    tenantsHint: 'Un inquilino es una mesa de ayuda propia para las instancias con su owner tag.',
  },
}
