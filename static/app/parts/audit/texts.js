// The words of the audit log.

/** @satisfies {import('../../lib/languages.js').Texts<Record<string, string>>} */
export const texts = {
  en: {
    caption: 'Audit log',
    empty: 'No entry yet.',
    time: 'Time',
    action: 'Action',
    instance: 'Instance',
    actor: 'By',
    target: 'Target',
    details: 'Details',
  },
  'pt-BR': {
    caption: 'Registro de auditoria',
    empty: 'Ainda não há registros.',
    time: 'Hora',
    action: 'Ação',
    instance: 'Instância',
    actor: 'Por',
    target: 'Alvo',
    details: 'Detalhes',
  },
  es: {
    caption: 'Registro de auditoría',
    empty: 'Aún no hay entradas.',
    time: 'Hora',
    action: 'Acción',
    instance: 'Instancia',
    actor: 'Por',
    target: 'Objeto',
    details: 'Detalles',
  },
}
