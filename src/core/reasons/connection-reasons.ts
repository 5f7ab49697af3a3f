// Why the connection of an account ended or is not there, in every language of SERVICE_LOCALE.

import type { Sentences } from './sentences.ts'

export const connectionReasons = {
  deviceRemoved: {
    en: 'the device was removed from the account or logged out: pair it again',
    es: 'el dispositivo se quitó de la cuenta o se cerró la sesión: vincúlelo de nuevo',
    pt: 'o aparelho foi removido da conta ou desconectado: conecte-o de novo',
  },
  bannedForTime: {
    en: 'the account is banned for a time',
    es: 'la cuenta está bloqueada por un tiempo',
    pt: 'a conta está banida por um tempo',
  },
  bannedForTimeBecause: {
    en: 'the account is banned for a time: {reason}',
    es: 'la cuenta está bloqueada por un tiempo: {reason}',
    pt: 'a conta está banida por um tempo: {reason}',
  },
  accountLocked: {
    en: 'the account is locked or its phone is gone: look at the phone',
    es: 'la cuenta está bloqueada o su teléfono ya no está: mire el teléfono',
    pt: 'a conta está bloqueada ou o celular dela não existe mais: olhe o celular',
  },
  versionRefused: {
    en: 'the network no longer accepts this protocol version: update the service or set SERVICE_NETWORK_VERSION',
    es: 'la red ya no acepta esta versión del protocolo: actualice el servicio o configure SERVICE_NETWORK_VERSION',
    pt: 'a rede não aceita mais esta versão do protocolo: atualize o serviço ou configure SERVICE_NETWORK_VERSION',
  },
  versionReplaced: {
    en: 'the network no longer accepts this protocol version: the service tries another one',
    es: 'la red ya no acepta esta versión del protocolo: el servicio prueba otra',
    pt: 'a rede não aceita mais esta versão do protocolo: o serviço tenta outra',
  },
  versionPinned: {
    en: 'the network no longer accepts the protocol version of SERVICE_NETWORK_VERSION: remove this setting, and the service finds the current version itself',
    es: 'la red ya no acepta la versión del protocolo de SERVICE_NETWORK_VERSION: quite este ajuste y el servicio encontrará la versión actual',
    pt: 'a rede não aceita mais a versão do protocolo de SERVICE_NETWORK_VERSION: remova este ajuste e o serviço encontrará a versão atual',
  },
  serverNotGenuine: {
    en: 'the server has no valid certificate of WhatsApp',
    es: 'el servidor no tiene un certificado válido de WhatsApp',
    pt: 'o servidor não tem um certificado válido do WhatsApp',
  },
  banned: {
    en: 'the account is banned: look at the phone',
    es: 'la cuenta está bloqueada: mire el teléfono',
    pt: 'a conta está banida: olhe o celular',
  },
  clientRefused: {
    en: 'the network does not accept this client as it introduces itself: update the service',
    es: 'la red no acepta este cliente tal como se presenta: actualice el servicio',
    pt: 'a rede não aceita este cliente como ele se apresenta: atualize o serviço',
  },
  devicesDisagree: {
    en: 'the phone and the network disagree about linked devices: update the app on the phone, then restart',
    es: 'el teléfono y la red no coinciden en los dispositivos vinculados: actualice la aplicación del teléfono y reinicie',
    pt: 'o celular e a rede discordam sobre os aparelhos conectados: atualize o aplicativo do celular e reinicie',
  },
  replaced: {
    en: 'another client opened the same session',
    es: 'otro cliente abrió la misma sesión',
    pt: 'outro cliente abriu a mesma sessão',
  },
  networkFailed: {
    en: 'the network reports an internal error',
    es: 'la red informa de un error interno',
    pt: 'a rede informa um erro interno',
  },
  networkAway: {
    en: 'the network is not available',
    es: 'la red no está disponible',
    pt: 'a rede não está disponível',
  },
  restartAsked: {
    en: 'the network asks to connect again',
    es: 'la red pide conectar de nuevo',
    pt: 'a rede pede uma nova conexão',
  },
  strangers: {
    en: 'too many messages to people who do not know this number',
    es: 'demasiados mensajes a personas que no conocen este número',
    pt: 'mensagens demais a pessoas que não conhecem este número',
  },
  blockedByMany: {
    en: 'too many people blocked this number',
    es: 'demasiadas personas bloquearon este número',
    pt: 'pessoas demais bloquearam este número',
  },
  groupsOfStrangers: {
    en: 'too many groups with people who do not know this number',
    es: 'demasiados grupos con personas que no conocen este número',
    pt: 'grupos demais com pessoas que não conhecem este número',
  },
  sameMessage: {
    en: 'the same message to too many people',
    es: 'el mismo mensaje a demasiadas personas',
    pt: 'a mesma mensagem a pessoas demais',
  },
  broadcasts: { en: 'too many broadcasts', es: 'demasiadas difusiones', pt: 'transmissões demais' },
  passkey: {
    en: 'WhatsApp asks for a passkey to link this account, and only a browser on web.whatsapp.com can give it: try again after some days, because WhatsApp often stops asking; removing the passkey on the phone seldom helps',
    es: 'WhatsApp pide una llave de acceso para vincular esta cuenta, y solo un navegador en web.whatsapp.com puede darla: inténtelo de nuevo dentro de unos días, porque WhatsApp suele dejar de pedirla; quitar la llave en el teléfono rara vez ayuda',
    pt: 'o WhatsApp pede uma chave de acesso para conectar esta conta, e só um navegador em web.whatsapp.com pode fornecê-la: tente de novo daqui a alguns dias, porque o WhatsApp costuma parar de pedir; remover a chave no celular raramente ajuda',
  },
  connectionClosed: {
    en: 'the connection was closed',
    es: 'la conexión se cerró',
    pt: 'a conexão foi fechada',
  },
  closedWithCode: {
    en: 'the network closed the connection with code {code}',
    es: 'la red cerró la conexión con el código {code}',
    pt: 'a rede fechou a conexão com o código {code}',
  },
  connectionBroke: {
    en: 'the connection broke ({detail})',
    es: 'la conexión se interrumpió ({detail})',
    pt: 'a conexão foi interrompida ({detail})',
  },
  throughProxy: {
    en: '{reason}, through the proxy {host}',
    es: '{reason}, a través del proxy {host}',
    pt: '{reason}, pelo proxy {host}',
  },
  unscanned: {
    en: 'no phone scanned a code in time: ask for a new one',
    es: 'ningún teléfono escaneó un código a tiempo: pida uno nuevo',
    pt: 'nenhum celular escaneou um código a tempo: peça um novo',
  },
  pairingStopped: {
    en: 'the service stopped before a phone scanned a code: ask for a new one',
    es: 'el servicio se detuvo antes de que un teléfono escaneara un código: pida uno nuevo',
    pt: 'o serviço parou antes de um celular escanear um código: peça um novo',
  },
  noFirstAnswer: {
    en: 'the network did not answer within {seconds} s',
    es: 'la red no respondió en {seconds} s',
    pt: 'a rede não respondeu em {seconds} s',
  },
  noPing: {
    en: 'the connection did not answer a ping within 10 s',
    es: 'la conexión no respondió a un ping en 10 s',
    pt: 'a conexão não respondeu a um ping em 10 s',
  },
  notReady: {
    en: 'the session was not ready within {seconds} s',
    es: 'la sesión no estuvo lista en {seconds} s',
    pt: 'a sessão não ficou pronta em {seconds} s',
  },
  nodeCutOff: {
    en: 'this node of the service could not reach the database',
    es: 'este nodo del servicio no pudo alcanzar la base de datos',
    pt: 'este nó do serviço não conseguiu alcançar o banco de dados',
  },
  keysGone: {
    en: 'the keys of this session are not stored any more: pair it again',
    es: 'las claves de esta sesión ya no están guardadas: vincúlela de nuevo',
    pt: 'as chaves desta sessão não estão mais guardadas: conecte-a de novo',
  },
  loggedOutHere: { en: 'logged out from here', es: 'cierre de sesión desde aquí', pt: 'desconectado daqui' },
  logoutAsked: { en: 'logged out on request', es: 'cierre de sesión solicitado', pt: 'desconectado a pedido' },
  linkRefused: {
    en: 'the new link was refused ({reason}), the one before is used again',
    es: 'el nuevo vínculo fue rechazado ({reason}); se usa de nuevo el anterior',
    pt: 'o novo vínculo foi recusado ({reason}); o anterior é usado de novo',
  },
} as const satisfies Sentences
