// The words of the chart of states.

/** @satisfies {import('../../../lib/languages.js').Texts<Record<string, string>>} */
export const texts = {
  en: {
    title: 'State over 24 hours',
    good: 'Connected',
    warn: 'In between',
    bad: 'Down',
    state: 'State',
    since: 'Since',
    lasted: 'Lasted',
    reason: 'Reason',
    share: 'Ready for {percent} of the known time.',
  },
  'pt-BR': {
    title: 'Estado em 24 horas',
    good: 'Conectada',
    warn: 'Entre os dois',
    bad: 'Fora',
    state: 'Estado',
    since: 'Desde',
    lasted: 'Durou',
    reason: 'Motivo',
    share: 'Pronta em {percent} do tempo conhecido.',
  },
  es: {
    title: 'Estado en 24 horas',
    good: 'Conectada',
    warn: 'Entre ambos',
    bad: 'Caída',
    state: 'Estado',
    since: 'Desde',
    lasted: 'Duró',
    reason: 'Motivo',
    share: 'Lista el {percent} del tiempo conocido.',
  },
}
