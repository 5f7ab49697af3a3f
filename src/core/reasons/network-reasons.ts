// Why WhatsApp did not take a message, in every language of SERVICE_LOCALE.

import type { Sentences } from './sentences.ts'

export const networkReasons = {
  firstMessageRefused: {
    en: 'the network did not take a first message from this account to this person (code 463)',
    es: 'la red no aceptó un primer mensaje de esta cuenta a esta persona (código 463)',
    pt: 'a rede não aceitou uma primeira mensagem desta conta a esta pessoa (código 463)',
  },
  networkRefused: {
    en: 'the network refused the message (code {code})',
    es: 'la red rechazó el mensaje (código {code})',
    pt: 'a rede recusou a mensagem (código {code})',
  },
  newChatsCapped: {
    en: 'WhatsApp limits how many new chats this account may begin, and the limit is reached (code 475). Wait, and write less to strangers',
    es: 'WhatsApp limita los chats nuevos que esta cuenta puede iniciar, y se alcanzó el límite (código 475). Espere y escriba menos a desconocidos',
    pt: 'o WhatsApp limita as conversas novas que esta conta pode iniciar, e o limite foi atingido (código 475). Espere e escreva menos a desconhecidos',
  },
  networkBusy: {
    en: 'the network could not take the message just now (code {code})',
    es: 'la red no pudo aceptar el mensaje en este momento (código {code})',
    pt: 'a rede não conseguiu aceitar a mensagem neste momento (código {code})',
  },
  lostBeforeLeaving: {
    en: 'the connection was lost before the message left',
    es: 'la conexión se perdió antes de que saliera el mensaje',
    pt: 'a conexão caiu antes de a mensagem sair',
  },
  lostBeforeAcknowledged: {
    en: 'the connection was lost before the network acknowledged the message',
    es: 'la conexión se perdió antes de que la red confirmara el mensaje',
    pt: 'a conexão caiu antes de a rede confirmar a mensagem',
  },
  unacknowledged: {
    en: 'the network did not acknowledge the message within {seconds} s',
    es: 'la red no confirmó el mensaje en {seconds} s',
    pt: 'a rede não confirmou a mensagem em {seconds} s',
  },
  unacknowledgedInTime: {
    en: 'the network did not acknowledge the message in time',
    es: 'la red no confirmó el mensaje a tiempo',
    pt: 'a rede não confirmou a mensagem a tempo',
  },
  notInGroup: {
    en: 'this account is not in the group (code {code})',
    es: 'esta cuenta no está en el grupo (código {code})',
    pt: 'esta conta não está no grupo (código {code})',
  },
  phoneUnknown: {
    en: 'this phone number is not on WhatsApp',
    es: 'este número de teléfono no está en WhatsApp',
    pt: 'este número de telefone não está no WhatsApp',
  },
  uploadTooLarge: {
    en: 'the file is too large',
    es: 'el archivo es demasiado grande',
    pt: 'o arquivo é grande demais',
  },
  closedBeforeAll: {
    en: 'the instance was closed before all of the message was sent',
    es: 'la instancia se cerró antes de enviar todo el mensaje',
    pt: 'a instância foi fechada antes de enviar toda a mensagem',
  },
  closedBefore: {
    en: 'the instance was closed before the message was sent',
    es: 'la instancia se cerró antes de enviar el mensaje',
    pt: 'a instância foi fechada antes de enviar a mensagem',
  },
  closedMeanwhile: {
    en: 'the instance was closed while the message was under way',
    es: 'la instancia se cerró mientras se enviaba el mensaje',
    pt: 'a instância foi fechada durante o envio da mensagem',
  },
  unaccepted: {
    en: 'the message was not accepted',
    es: 'el mensaje no fue aceptado',
    pt: 'a mensagem não foi aceita',
  },
  devicesUnknown: {
    en: 'the message was not sent: the network did not name the devices of {count} recipients',
    es: 'el mensaje no se envió: la red no indicó los dispositivos de {count} destinatarios',
    pt: 'a mensagem não foi enviada: a rede não informou os aparelhos de {count} destinatários',
  },
  groupUnreachable: {
    en: 'the message was not sent: the network has neither devices nor keys of anybody in this group just now',
    es: 'el mensaje no se envió: la red no tiene ahora dispositivos ni claves de los miembros de este grupo',
    pt: 'a mensagem não foi enviada: a rede não tem agora aparelhos nem chaves dos membros deste grupo',
  },
  groupChanging: {
    en: 'the message was not sent: members left the group again and again while it was prepared',
    es: 'el mensaje no se envió: varios miembros salieron del grupo mientras se preparaba',
    pt: 'a mensagem não foi enviada: vários membros saíram do grupo enquanto ela era preparada',
  },
  keysMissing: {
    en: 'the message was not sent: the keys of {count} recipients are missing',
    es: 'el mensaje no se envió: no hay claves de {count} destinatarios',
    pt: 'a mensagem não foi enviada: não há chaves de {count} destinatários',
  },
  connectionLost: { en: 'the connection was lost', es: 'la conexión se perdió', pt: 'a conexão caiu' },
  notReadyInTime: {
    en: 'it could not be made ready within {seconds} s',
    es: 'no se pudo preparar en {seconds} s',
    pt: 'não foi possível prepará-la em {seconds} s',
  },
  unsent: {
    en: 'the message was not sent: {reason}',
    es: 'el mensaje no se envió: {reason}',
    pt: 'a mensagem não foi enviada: {reason}',
  },
} as const satisfies Sentences
