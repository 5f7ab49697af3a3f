// The sentences of helpdesk notices, in every language of SERVICE_LOCALE.

import type { InstanceName } from '../core/ids.ts'
import type { Locale } from '../core/reasons/sentences.ts'

export type NoticeTexts = {
  /** The contact that the notices come from. */
  name: (instance: InstanceName) => string
  scan: string
  connected: (phone: string) => string
  unreachable: (seconds: number, reason: string) => string
  reconnected: (minutes: number) => string
  loggedOut: (reason: string) => string
  notLinked: (reason: string) => string
  strike: (reason: string) => string
  /** The answer when an agent asks for a code and the account needs none. */
  noCode: string
  /** A note that is posted when Chatwoot seems unable to call the service. */
  test: string
}

export const noticeTexts: Record<Locale, NoticeTexts> = {
  en: {
    name: (instance) => `WhatsApp connection: ${instance}`,
    scan: 'Scan this code: WhatsApp on the phone → Linked devices → Link a device. A new one follows every 20 seconds.',
    connected: (phone) => `Connected as ${phone}.`,
    unreachable: (seconds, reason) =>
      `WhatsApp has not been reachable for ${seconds} s (${reason}). It is tried again by itself; messages to contacts wait.`,
    reconnected: (minutes) => `Connected again after ${minutes} min.`,
    loggedOut: (reason) => `The link to the phone has ended (${reason}). Write "qr" here for a code to link it again.`,
    notLinked: (reason) => `The phone could not be linked: ${reason}.`,
    strike: (reason) => `WhatsApp has restricted this account: ${reason}.`,
    noCode: 'A code is given only while the account is not connected.',
    test: 'Connection test. If this note is marked as failed, Chatwoot cannot call the service, and answers of agents do not reach customers.',
  },
  es: {
    name: (instance) => `Conexión de WhatsApp: ${instance}`,
    scan: 'Escanee este código: WhatsApp en el teléfono → Dispositivos vinculados → Vincular dispositivo. Cada 20 segundos llega uno nuevo.',
    connected: (phone) => `Conectado como ${phone}.`,
    unreachable: (seconds, reason) =>
      `WhatsApp no responde desde hace ${seconds} s (${reason}). Se reintenta solo; los mensajes a los contactos esperan.`,
    reconnected: (minutes) => `Conectado de nuevo después de ${minutes} min.`,
    loggedOut: (reason) =>
      `El vínculo con el teléfono terminó (${reason}). Escriba "qr" aquí para recibir un código y vincularlo de nuevo.`,
    notLinked: (reason) => `No se pudo vincular el teléfono: ${reason}.`,
    strike: (reason) => `WhatsApp ha restringido esta cuenta: ${reason}.`,
    noCode: 'Solo hay un código mientras la cuenta no está conectada.',
    test: 'Prueba de conexión. Si esta nota aparece como fallida, Chatwoot no puede llamar al servicio y las respuestas de los agentes no llegan a los clientes.',
  },
  pt: {
    name: (instance) => `Conexão do WhatsApp: ${instance}`,
    scan: 'Escaneie este código: WhatsApp no celular → Dispositivos conectados → Conectar dispositivo. A cada 20 segundos chega um novo.',
    connected: (phone) => `Conectado como ${phone}.`,
    unreachable: (seconds, reason) =>
      `O WhatsApp não responde há ${seconds} s (${reason}). Há novas tentativas automáticas; as mensagens aos contatos esperam.`,
    reconnected: (minutes) => `Conectado de novo depois de ${minutes} min.`,
    loggedOut: (reason) =>
      `O vínculo com o celular terminou (${reason}). Escreva "qr" aqui para receber um código e vinculá-lo de novo.`,
    notLinked: (reason) => `Não foi possível conectar o celular: ${reason}.`,
    strike: (reason) => `O WhatsApp restringiu esta conta: ${reason}.`,
    noCode: 'Só há um código enquanto a conta não está conectada.',
    test: 'Teste de conexão. Se esta nota aparecer como falha, o Chatwoot não consegue chamar o serviço e as respostas dos agentes não chegam aos clientes.',
  },
}
