// The words of the head of the page.

/** @satisfies {import('../../../lib/languages.js').Texts<Record<string, string>>} */
export const texts = {
  en: {
    phone: 'Phone',
    noPhone: 'not linked yet',
    helpdesk: 'Helpdesk',
    defaultHelpdesk: 'the one of the service',
    lastIn: 'Last message in',
    lastOut: 'Last message out',
    pendingLogout:
      'WhatsApp has not confirmed the logout yet. The service tries for 30 days. To end it at once, remove the device on the phone under Linked devices.',
  },
  'pt-BR': {
    phone: 'Telefone',
    noPhone: 'ainda não vinculado',
    helpdesk: 'Central de atendimento',
    defaultHelpdesk: 'a do serviço',
    lastIn: 'Última mensagem recebida',
    lastOut: 'Última mensagem enviada',
    pendingLogout:
      'O WhatsApp ainda não confirmou o fim da sessão. O serviço tenta por 30 dias. Para encerrar já, remova o dispositivo no telefone, em Dispositivos conectados.',
  },
  es: {
    phone: 'Teléfono',
    noPhone: 'aún no vinculado',
    helpdesk: 'Mesa de ayuda',
    defaultHelpdesk: 'la del servicio',
    lastIn: 'Último mensaje recibido',
    lastOut: 'Último mensaje enviado',
    pendingLogout:
      'WhatsApp aún no ha confirmado el cierre de la sesión. El servicio lo intenta durante 30 días. Para cerrarla ya, quite el dispositivo en el teléfono, en Dispositivos vinculados.',
  },
}
