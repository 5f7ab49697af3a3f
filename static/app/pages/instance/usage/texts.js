// The words of the usage.

/** @satisfies {import('../../../lib/languages.js').Texts<Record<string, string>>} */
export const texts = {
  en: {
    title: 'Usage of 30 days',
    perDay: 'Messages per day (UTC)',
    day: 'Day',
    messagesIn: 'In',
    messagesOut: 'Out',
    totals: 'Messages in: {in}. Messages out: {out}. Repetitions blocked: {blocks}. Lifecycle events: {events}.',
  },
  'pt-BR': {
    title: 'Uso de 30 dias',
    perDay: 'Mensagens por dia (UTC)',
    day: 'Dia',
    messagesIn: 'Recebidas',
    messagesOut: 'Enviadas',
    totals: 'Recebidas: {in}. Enviadas: {out}. Repetições bloqueadas: {blocks}. Eventos: {events}.',
  },
  es: {
    title: 'Uso de 30 días',
    perDay: 'Mensajes por día (UTC)',
    day: 'Día',
    messagesIn: 'Recibidos',
    messagesOut: 'Enviados',
    totals: 'Recibidos: {in}. Enviados: {out}. Repeticiones bloqueadas: {blocks}. Eventos: {events}.',
  },
}
