// Why the service did not accept or did not send a message of an agent, in every language of SERVICE_LOCALE.

import type { Sentences } from './sentences.ts'

export const messageReasons = {
  part: {
    en: 'part {numbers} of {count}: {reason}',
    es: 'parte {numbers} de {count}: {reason}',
    pt: 'parte {numbers} de {count}: {reason}',
  },
  parts: {
    en: 'parts {numbers} of {count}: {reason}',
    es: 'partes {numbers} de {count}: {reason}',
    pt: 'partes {numbers} de {count}: {reason}',
  },
  notSent: { en: 'not sent', es: 'no enviado', pt: 'não enviado' },
  repeated: {
    en: 'the same message was sent to this chat within the last 30 seconds',
    es: 'el mismo mensaje se envió a este chat en los últimos 30 segundos',
    pt: 'a mesma mensagem foi enviada a esta conversa nos últimos 30 segundos',
  },
  tooOld: {
    en: 'the service could not take the message in time, so it was not sent: try again',
    es: 'el servicio no pudo aceptar el mensaje a tiempo, por eso no se envió: inténtelo de nuevo',
    pt: 'o serviço não conseguiu aceitar a mensagem a tempo, por isso ela não foi enviada: tente de novo',
  },
  storedTooLate: {
    en: 'the service could not store the message in time: try again',
    es: 'el servicio no pudo guardar el mensaje a tiempo: inténtelo de nuevo',
    pt: 'o serviço não conseguiu guardar a mensagem a tempo: tente de novo',
  },
  deletedBefore: {
    en: 'deleted at the helpdesk before it was sent',
    es: 'eliminado en el sistema de atención antes de enviarse',
    pt: 'excluída no sistema de atendimento antes do envio',
  },
  full: {
    en: 'the account is not connected and {count} messages already wait: try again when it is back',
    es: 'la cuenta no está conectada y ya esperan {count} mensajes: inténtelo de nuevo cuando vuelva',
    pt: 'a conta não está conectada e já há {count} mensagens à espera: tente de novo quando ela voltar',
  },
  fullByRate: {
    en: 'the account has reached its limit of {rate} per minute, and {count} messages already wait: try again in a few minutes',
    es: 'la cuenta alcanzó su límite de {rate} por minuto y ya esperan {count} mensajes: inténtelo de nuevo en unos minutos',
    pt: 'a conta atingiu o limite de {rate} por minuto e já há {count} mensagens à espera: tente de novo em alguns minutos',
  },
  fullByWarmup: {
    en: 'the number is new and may send at most {rate} per minute today (day {day} of {days}), and {count} messages already wait: try again in a few minutes',
    es: 'el número es nuevo y hoy puede enviar como máximo {rate} por minuto (día {day} de {days}), y ya esperan {count} mensajes: inténtelo de nuevo en unos minutos',
    pt: 'o número é novo e hoje pode enviar no máximo {rate} por minuto (dia {day} de {days}), e já há {count} mensagens à espera: tente de novo em alguns minutos',
  },
  disconnectedTooLong: {
    en: 'the account was not connected for 5 minutes',
    es: 'la cuenta no estuvo conectada durante 5 minutos',
    pt: 'a conta ficou 5 minutos sem conexão',
  },
  tooLong: {
    en: 'the text is longer than the {characters} characters that WhatsApp takes: send it in parts',
    es: 'el texto supera los {characters} caracteres que admite WhatsApp: envíelo en partes',
    pt: 'o texto passa dos {characters} caracteres que o WhatsApp aceita: envie-o em partes',
  },
  tooManyFiles: {
    en: 'the message has more than {files} files: send them in several messages',
    es: 'el mensaje tiene más de {files} archivos: envíelos en varios mensajes',
    pt: 'a mensagem tem mais de {files} arquivos: envie-os em várias mensagens',
  },
  fileWithoutAddress: {
    en: 'the helpdesk did not say where to fetch an attached file',
    es: 'el sistema de atención no indicó de dónde descargar un archivo adjunto',
    pt: 'o sistema de atendimento não informou de onde baixar um arquivo anexado',
  },
  noRecipient: {
    en: 'the contact has no phone number and no WhatsApp id',
    es: 'el contacto no tiene número de teléfono ni identificador de WhatsApp',
    pt: 'o contato não tem número de telefone nem identificador do WhatsApp',
  },
  unidentifiedInbox: {
    en: 'the helpdesk inbox could not be identified, so it is not certain who is to be answered: check the API token of the helpdesk, then try again',
    es: 'no se pudo identificar la bandeja del sistema de atención, y no es seguro a quién se responde: revise el token de la API e inténtelo de nuevo',
    pt: 'não foi possível identificar a caixa do sistema de atendimento, e não é certo quem receberia a resposta: confira o token da API e tente de novo',
  },
  otherInbox: {
    en: 'the message belongs to another inbox than the one this instance serves',
    es: 'el mensaje pertenece a otra bandeja que la que atiende esta instancia',
    pt: 'a mensagem pertence a outra caixa que não a desta instância',
  },
  historyImported: {
    en: 'history is being imported, press Retry in a minute',
    es: 'se está importando el historial, pulse Reintentar en un minuto',
    pt: 'o histórico está sendo importado, clique em Tentar novamente em um minuto',
  },
  historyOnly: {
    en: 'this conversation shows imported history: only messages that a person writes are sent from it',
    es: 'esta conversación muestra el historial importado: desde ella solo se envían mensajes que escribe una persona',
    pt: 'esta conversa mostra o histórico importado: dela só são enviadas mensagens que uma pessoa escreve',
  },
  restored: {
    en: 'the service was restored from a backup and does not know whether this message was sent: look on the phone before you send it again',
    es: 'el servicio se restauró de una copia de seguridad y no sabe si este mensaje se envió: mire en el teléfono antes de enviarlo de nuevo',
    pt: 'o serviço foi restaurado de um backup e não sabe se esta mensagem foi enviada: olhe no celular antes de enviar de novo',
  },
  unconfirmed: {
    en: 'delivery could not be confirmed: look on the phone before you send it again',
    es: 'no se pudo confirmar la entrega: mire en el teléfono antes de enviarlo de nuevo',
    pt: 'não foi possível confirmar a entrega: olhe no celular antes de enviar de novo',
  },
  unansweredRetry: {
    en: 'the helpdesk did not say in time whether the message is to be sent again: press Retry again',
    es: 'el sistema de atención no dijo a tiempo si el mensaje debe enviarse de nuevo: pulse Reintentar otra vez',
    pt: 'o sistema de atendimento não disse a tempo se a mensagem deve ser reenviada: clique em Tentar novamente outra vez',
  },
  instanceDeleted: {
    en: 'the instance was deleted',
    es: 'la instancia fue eliminada',
    pt: 'a instância foi excluída',
  },
  instanceCreatedAnew: {
    en: 'the instance was created after this message and may be another account: write the message again',
    es: 'la instancia se creó después de este mensaje y puede ser otra cuenta: escriba el mensaje de nuevo',
    pt: 'a instância foi criada depois desta mensagem e pode ser outra conta: escreva a mensagem de novo',
  },
  restricted: {
    en: 'WhatsApp has restricted this account: it may not write to people who never wrote to it. Wait, and write less to strangers',
    es: 'WhatsApp ha restringido esta cuenta: no puede escribir a personas que nunca le escribieron. Espere y escriba menos a desconocidos',
    pt: 'o WhatsApp restringiu esta conta: ela não pode escrever a pessoas que nunca lhe escreveram. Espere e escreva menos a desconhecidos',
  },
  restrictedUntil: {
    en: 'WhatsApp has restricted this account: it may not write to people who never wrote to it. Wait, and write less to strangers (until {time})',
    es: 'WhatsApp ha restringido esta cuenta: no puede escribir a personas que nunca le escribieron. Espere y escriba menos a desconocidos (hasta {time})',
    pt: 'o WhatsApp restringiu esta conta: ela não pode escrever a pessoas que nunca lhe escreveram. Espere e escreva menos a desconhecidos (até {time})',
  },
  mayBeRestrictedUntil: {
    en: 'WhatsApp refused a first message of this account and did not say whether the account is restricted. To be safe, the account writes only to people who wrote to it (until {time}). Try again then',
    es: 'WhatsApp rechazó un primer mensaje de esta cuenta y no dijo si la cuenta está restringida. Por seguridad, la cuenta solo escribe a personas que le escribieron (hasta {time}). Inténtelo de nuevo después',
    pt: 'o WhatsApp recusou uma primeira mensagem desta conta e não disse se a conta está restrita. Por segurança, a conta só escreve a pessoas que lhe escreveram (até {time}). Tente de novo depois',
  },
  nothingToTakeBack: {
    en: 'there is nothing to take back',
    es: 'no hay nada que retirar',
    pt: 'não há nada a apagar',
  },
  numberUnknown: {
    en: 'this number is not on WhatsApp: check it with the contact',
    es: 'este número no está en WhatsApp: verifíquelo con el contacto',
    pt: 'este número não está no WhatsApp: confira-o com o contato',
  },
  nothingLeft: {
    en: 'nothing of the text is left to send without its Markdown',
    es: 'sin su formato no queda texto que enviar',
    pt: 'sem a formatação não sobra texto para enviar',
  },
  noHelpdesk: {
    en: 'no helpdesk is configured to fetch the attachment from',
    es: 'no hay un sistema de atención configurado del que descargar el archivo adjunto',
    pt: 'não há sistema de atendimento configurado de onde baixar o anexo',
  },
  emptyFile: {
    en: 'an attachment is empty',
    es: 'un archivo adjunto está vacío',
    pt: 'um anexo está vazio',
  },
  unfetched: {
    en: '{name} could not be fetched from the helpdesk: {reason}',
    es: 'no se pudo descargar {name} del sistema de atención: {reason}',
    pt: 'não foi possível baixar {name} do sistema de atendimento: {reason}',
  },
  unnamedUnfetched: {
    en: 'a file could not be fetched from the helpdesk: {reason}',
    es: 'no se pudo descargar un archivo del sistema de atención: {reason}',
    pt: 'não foi possível baixar um arquivo do sistema de atendimento: {reason}',
  },
  fileTooLarge: {
    en: 'the file is larger than {bytes} bytes (SERVICE_MEDIA_MAX_BYTES)',
    es: 'el archivo supera los {bytes} bytes (SERVICE_MEDIA_MAX_BYTES)',
    pt: 'o arquivo passa de {bytes} bytes (SERVICE_MEDIA_MAX_BYTES)',
  },
  fileForbidden: {
    en: 'the file cannot be fetched: {reason}',
    es: 'el archivo no se puede descargar: {reason}',
    pt: 'o arquivo não pode ser baixado: {reason}',
  },
  fileUnfetched: {
    en: 'the file could not be fetched: {reason}',
    es: 'el archivo no se pudo descargar: {reason}',
    pt: 'não foi possível baixar o arquivo: {reason}',
  },
  fileMissing: {
    en: 'there is no such file at {origin}',
    es: 'el archivo no existe en {origin}',
    pt: 'o arquivo não existe em {origin}',
  },
  fileRefused: {
    en: '{origin} answered {status} instead of the file',
    es: '{origin} respondió {status} en lugar del archivo',
    pt: '{origin} respondeu {status} em vez do arquivo',
  },
} as const satisfies Sentences
