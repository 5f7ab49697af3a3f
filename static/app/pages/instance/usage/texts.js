// The words of the usage.

/** @satisfies {import('../../../lib/languages.js').Texts<Record<string, string>>} */
export const texts = {
  en: {
    title: 'Usage of 30 days',
    perDay: 'Messages per day (UTC)',
    day: 'Day',
    messagesIn: 'In',
    messagesOut: 'Out',
    totals: 'In all: {in} in, {out} out, {blocks} repetitions blocked, {events} lifecycle events.',
  },
  'pt-BR': {
    title: 'Uso de 30 dias',
    perDay: 'Mensagens por dia (UTC)',
    day: 'Dia',
    messagesIn: 'Recebidas',
    messagesOut: 'Enviadas',
    totals: 'Ao todo: {in} recebidas, {out} enviadas, {blocks} repetições bloqueadas, {events} eventos.',
  },
  es: {
    title: 'Uso de 30 días',
    perDay: 'Mensajes por día (UTC)',
    day: 'Día',
    messagesIn: 'Recibidos',
    messagesOut: 'Enviados',
    totals: 'En total: {in} recibidos, {out} enviados, {blocks} repeticiones bloqueadas, {events} eventos.',
  },
}
