// Every sentence that the service writes into a conversation, in every language of SERVICE_LOCALE.

import type { Mark, MediaKind } from '../../../core/message.ts'

export type Locale = 'en' | 'es' | 'pt'

export type Texts = {
  reacted: (emoji: string) => string
  unreacted: string
  edited: string
  deleted: string
  call: {
    voice: string
    video: string
    missedVoice: string
    missedVideo: string
    /** `call` is one of the first two. */
    rejected: (call: string) => string
    unconfirmed: (call: string) => string
  }
  poll: (question: string) => string
  voted: (options: string) => string
  unvoted: string
  sealed: string
  album: (images: number, videos: number) => string
  viewOnce: (what: string) => string
  location: string
  liveLocation: string
  ad: string
  waiting: string
  withheld: string
  mark: Record<Mark, string>
  unsupported: (name: string) => string
  unreadable: string
  truncated: string
  fileMissing: (what: string) => string
  fileTooLarge: (what: string, limit: string) => string
  fileRefused: (what: string) => string
  media: Record<MediaKind | 'file', string>
  group: string
  change: ChangeTexts
}

export type ChangeTexts = {
  somebody: string
  subject: (who: string, subject: string) => string
  description: (who: string) => string
  picture: (who: string) => string
  locked: (who: string, on: boolean) => string
  announce: (who: string, on: boolean) => string
  approval: (who: string, on: boolean) => string
  ephemeral: (who: string, days: string | null) => string
  /** A message shows that the timer was changed. It does not say by whom. */
  ephemeralFound: (days: string | null) => string
  add: (who: string, people: string) => string
  remove: (who: string, people: string) => string
  leave: (people: string) => string
  join: (people: string) => string
  promote: (who: string, people: string) => string
  demote: (who: string, people: string) => string
  created: (who: string, name: string) => string
  inviteLink: (who: string) => string
  other: (who: string, name: string) => string
}

const en: Texts = {
  reacted: (emoji) => `reacted with ${emoji}`,
  unreacted: 'removed their reaction',
  edited: '✏️ Edited:',
  deleted: '🗑️ This message was deleted by its sender',
  call: {
    voice: '📞 Voice call',
    video: '📹 Video call',
    missedVoice: '📞 Missed voice call',
    missedVideo: '📹 Missed video call',
    rejected: (call) => `${call}, rejected automatically`,
    unconfirmed: (call) => `${call}. It may not have been rejected: WhatsApp did not confirm it.`,
  },
  poll: (question) => `📊 Poll: ${question}`,
  voted: (options) => `🗳️ voted for: ${options}`,
  unvoted: '🗳️ withdrew their vote',
  sealed: '🔒 This refers to a message that is not known here and cannot be opened',
  album: (images, videos) =>
    `🖼️ Album: ${counted(images, 'photo', 'photos')}${both(images, videos, ' and ')}${counted(videos, 'video', 'videos')}`,
  viewOnce: (what) => `👁️ View-once ${what}: it can only be opened on the phone`,
  location: '📍 Location',
  liveLocation: '📍 Live location',
  ad: '📣 Came from an ad',
  waiting: '⏳ This message could not be decrypted yet. Its content follows as a reply when it arrives.',
  withheld: '🔒 The content of this message cannot be shown here. It can be seen on the phone.',
  mark: {
    pinned: '📌 pinned a message',
    unpinned: '📌 unpinned a message',
    kept: '🔖 kept a message',
    unkept: '🔖 no longer keeps a message',
  },
  unsupported: (name) => `❔ Message of a kind that is not supported here (${name}). It can be seen on the phone.`,
  unreadable: '⚠️ A message could not be shown here. It can be seen on the phone.',
  truncated: '✂️ The message was too long and is cut off here.',
  fileMissing: (what) => `⚠️ The ${what} could not be fetched. It follows as a reply if it arrives within 24 hours.`,
  fileTooLarge: (what, limit) => `⚠️ The ${what} is larger than ${limit} and can only be seen on the phone.`,
  fileRefused: (what) => `⚠️ The helpdesk refused the ${what}. It can be seen on the phone.`,
  media: {
    image: 'photo',
    video: 'video',
    gif: 'GIF',
    video_note: 'video note',
    audio: 'audio file',
    voice: 'voice message',
    document: 'document',
    sticker: 'sticker',
    file: 'file',
  },
  group: 'Group',
  change: {
    somebody: 'Somebody',
    subject: (who, subject) => `${who} changed the group name to "${subject}"`,
    description: (who) => `${who} changed the group description`,
    picture: (who) => `${who} changed the group picture`,
    locked: (who, on) => `${who} allowed ${on ? 'only admins' : 'all members'} to edit the group info`,
    announce: (who, on) => `${who} allowed ${on ? 'only admins' : 'all members'} to send messages`,
    approval: (who, on) => `${who} turned ${on ? 'on' : 'off'} admin approval for new members`,
    ephemeral: (who, days) =>
      days === null ? `${who} turned off disappearing messages` : `${who} set messages to disappear after ${days}`,
    ephemeralFound: (days) =>
      days === null ? 'Messages in this chat no longer disappear' : `Messages in this chat disappear after ${days}`,
    add: (who, people) => `${who} added ${people}`,
    remove: (who, people) => `${who} removed ${people}`,
    leave: (people) => `${people} left`,
    join: (people) => `${people} joined`,
    promote: (who, people) => `${who} made ${people} admin`,
    demote: (who, people) => `${who} dismissed ${people} as admin`,
    created: (who, name) => `${who} created the group "${name}"`,
    inviteLink: (who) => `${who} reset the invite link`,
    other: (who, name) => `${who} changed the group (${name})`,
  },
}

const es: Texts = {
  reacted: (emoji) => `reaccionó con ${emoji}`,
  unreacted: 'quitó su reacción',
  edited: '✏️ Editado:',
  deleted: '🗑️ Quien envió este mensaje lo eliminó',
  call: {
    voice: '📞 Llamada de voz',
    video: '📹 Videollamada',
    missedVoice: '📞 Llamada de voz perdida',
    missedVideo: '📹 Videollamada perdida',
    rejected: (call) => `${call}, rechazada automáticamente`,
    unconfirmed: (call) => `${call}. Puede que no se haya rechazado: WhatsApp no lo confirmó.`,
  },
  poll: (question) => `📊 Encuesta: ${question}`,
  voted: (options) => `🗳️ votó por: ${options}`,
  unvoted: '🗳️ retiró su voto',
  sealed: '🔒 Se refiere a un mensaje que aquí no se conoce y no se puede abrir',
  album: (images, videos) =>
    `🖼️ Álbum: ${counted(images, 'foto', 'fotos')}${both(images, videos, ' y ')}${counted(videos, 'video', 'videos')}`,
  viewOnce: (what) => `👁️ Para ver una sola vez (${what}): solo se puede abrir en el teléfono`,
  location: '📍 Ubicación',
  liveLocation: '📍 Ubicación en tiempo real',
  ad: '📣 Llegó desde un anuncio',
  waiting: '⏳ Este mensaje aún no se pudo descifrar. Su contenido sigue como respuesta cuando llegue.',
  withheld: '🔒 El contenido de este mensaje no se puede mostrar aquí. Se puede ver en el teléfono.',
  mark: {
    pinned: '📌 fijó un mensaje',
    unpinned: '📌 dejó de fijar un mensaje',
    kept: '🔖 conservó un mensaje',
    unkept: '🔖 dejó de conservar un mensaje',
  },
  unsupported: (name) => `❔ Tipo de mensaje no compatible aquí (${name}). Se puede ver en el teléfono.`,
  unreadable: '⚠️ Un mensaje no se pudo mostrar aquí. Se puede ver en el teléfono.',
  truncated: '✂️ El mensaje era demasiado largo y se corta aquí.',
  fileMissing: (what) => `⚠️ No se pudo obtener el archivo (${what}). Sigue como respuesta si llega en 24 horas.`,
  fileTooLarge: (what, limit) => `⚠️ El archivo (${what}) supera ${limit} y solo se puede ver en el teléfono.`,
  fileRefused: (what) => `⚠️ La mesa de ayuda rechazó el archivo (${what}). Se puede ver en el teléfono.`,
  media: {
    image: 'foto',
    video: 'video',
    gif: 'GIF',
    video_note: 'nota de video',
    audio: 'audio',
    voice: 'mensaje de voz',
    document: 'documento',
    sticker: 'sticker',
    file: 'archivo',
  },
  group: 'Grupo',
  change: {
    somebody: 'Alguien',
    subject: (who, subject) => `${who} cambió el nombre del grupo a "${subject}"`,
    description: (who) => `${who} cambió la descripción del grupo`,
    picture: (who) => `${who} cambió la foto del grupo`,
    locked: (who, on) => `${who} permitió que ${on ? 'solo los administradores' : 'todos'} editen los datos del grupo`,
    announce: (who, on) => `${who} permitió que ${on ? 'solo los administradores' : 'todos'} envíen mensajes`,
    approval: (who, on) => `${who} ${on ? 'activó' : 'desactivó'} la aprobación de nuevos miembros`,
    ephemeral: (who, days) =>
      days === null
        ? `${who} desactivó los mensajes temporales`
        : `${who} hizo que los mensajes desaparezcan después de ${days}`,
    ephemeralFound: (days) =>
      days === null
        ? 'Los mensajes de este chat ya no desaparecen'
        : `Los mensajes de este chat desaparecen después de ${days}`,
    add: (who, people) => `${who} agregó a ${people}`,
    remove: (who, people) => `${who} eliminó a ${people}`,
    leave: (people) => `${people} salió`,
    join: (people) => `${people} se unió`,
    promote: (who, people) => `${who} hizo administrador a ${people}`,
    demote: (who, people) => `${who} quitó como administrador a ${people}`,
    created: (who, name) => `${who} creó el grupo "${name}"`,
    inviteLink: (who) => `${who} restableció el enlace de invitación`,
    other: (who, name) => `${who} cambió el grupo (${name})`,
  },
}

const pt: Texts = {
  reacted: (emoji) => `reagiu com ${emoji}`,
  unreacted: 'removeu a reação',
  edited: '✏️ Editada:',
  deleted: '🗑️ Esta mensagem foi apagada por quem a enviou',
  call: {
    voice: '📞 Chamada de voz',
    video: '📹 Chamada de vídeo',
    missedVoice: '📞 Chamada de voz perdida',
    missedVideo: '📹 Chamada de vídeo perdida',
    rejected: (call) => `${call}, recusada automaticamente`,
    unconfirmed: (call) => `${call}. Talvez não tenha sido recusada: o WhatsApp não confirmou.`,
  },
  poll: (question) => `📊 Enquete: ${question}`,
  voted: (options) => `🗳️ votou em: ${options}`,
  unvoted: '🗳️ retirou o voto',
  sealed: '🔒 Refere-se a uma mensagem que não é conhecida aqui e não pode ser aberta',
  album: (images, videos) =>
    `🖼️ Álbum: ${counted(images, 'foto', 'fotos')}${both(images, videos, ' e ')}${counted(videos, 'vídeo', 'vídeos')}`,
  viewOnce: (what) => `👁️ Visualização única (${what}): só pode ser aberta no telefone`,
  location: '📍 Localização',
  liveLocation: '📍 Localização em tempo real',
  ad: '📣 Veio de um anúncio',
  waiting: '⏳ Esta mensagem ainda não pôde ser decifrada. O conteúdo segue como resposta quando chegar.',
  withheld: '🔒 O conteúdo desta mensagem não pode ser mostrado aqui. Pode ser visto no telefone.',
  mark: {
    pinned: '📌 fixou uma mensagem',
    unpinned: '📌 desafixou uma mensagem',
    kept: '🔖 manteve uma mensagem',
    unkept: '🔖 deixou de manter uma mensagem',
  },
  unsupported: (name) => `❔ Tipo de mensagem não suportado aqui (${name}). Pode ser visto no telefone.`,
  unreadable: '⚠️ Uma mensagem não pôde ser mostrada aqui. Pode ser vista no telefone.',
  truncated: '✂️ A mensagem era longa demais e está cortada aqui.',
  fileMissing: (what) => `⚠️ O arquivo (${what}) não pôde ser obtido. Segue como resposta se chegar em 24 horas.`,
  fileTooLarge: (what, limit) => `⚠️ O arquivo (${what}) passa de ${limit} e só pode ser visto no telefone.`,
  fileRefused: (what) => `⚠️ O helpdesk recusou o arquivo (${what}). Pode ser visto no telefone.`,
  media: {
    image: 'foto',
    video: 'vídeo',
    gif: 'GIF',
    video_note: 'nota de vídeo',
    audio: 'áudio',
    voice: 'mensagem de voz',
    document: 'documento',
    sticker: 'figurinha',
    file: 'arquivo',
  },
  group: 'Grupo',
  change: {
    somebody: 'Alguém',
    subject: (who, subject) => `${who} mudou o nome do grupo para "${subject}"`,
    description: (who) => `${who} mudou a descrição do grupo`,
    picture: (who) => `${who} mudou a foto do grupo`,
    locked: (who, on) => `${who} permitiu que ${on ? 'só administradores' : 'todos'} editem os dados do grupo`,
    announce: (who, on) => `${who} permitiu que ${on ? 'só administradores' : 'todos'} enviem mensagens`,
    approval: (who, on) => `${who} ${on ? 'ativou' : 'desativou'} a aprovação de novos membros`,
    ephemeral: (who, days) =>
      days === null ? `${who} desativou as mensagens temporárias` : `${who} fez as mensagens sumirem após ${days}`,
    ephemeralFound: (days) =>
      days === null ? 'As mensagens desta conversa não somem mais' : `As mensagens desta conversa somem após ${days}`,
    add: (who, people) => `${who} adicionou ${people}`,
    remove: (who, people) => `${who} removeu ${people}`,
    leave: (people) => `${people} saiu`,
    join: (people) => `${people} entrou`,
    promote: (who, people) => `${who} tornou ${people} administrador`,
    demote: (who, people) => `${who} retirou ${people} como administrador`,
    created: (who, name) => `${who} criou o grupo "${name}"`,
    inviteLink: (who) => `${who} redefiniu o link de convite`,
    other: (who, name) => `${who} mudou o grupo (${name})`,
  },
}

export const textsOf: Record<Locale, Texts> = { en, es, pt }

function counted(count: number, one: string, many: string): string {
  return count === 0 ? '' : `${count} ${count === 1 ? one : many}`
}

function both(first: number, second: number, and: string): string {
  return first > 0 && second > 0 ? and : ''
}
