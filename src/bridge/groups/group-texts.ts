// The sentences about groups that people and agents read, in every language of SERVICE_LOCALE.

import type { GroupFailure, GroupMember } from '../../core/group-administration.ts'
import type { Locale } from '../../core/reasons/sentences.ts'

type GroupTexts = {
  /** The text of an invitation. */
  invitation: string
  /** Above the list of the members. */
  members: (count: number) => string
  /** Above a part of a list that does not fit into one note. */
  part: (part: number, parts: number) => string
  roles: Record<Exclude<GroupMember['role'], 'member'>, string>
  /** Why there is no list. */
  noMembers: Record<GroupFailure | 'not_ready', string>
}

export const groupTexts: Record<Locale, GroupTexts> = {
  en: {
    invitation: 'Invitation to join my WhatsApp group',
    members: (count) => `Members of this group: ${count}`,
    part: (part, parts) => `part ${part} of ${parts}`,
    roles: { superadmin: 'owner', admin: 'administrator' },
    noMembers: {
      not_ready: 'The members cannot be listed: the account is not connected to WhatsApp. Write "members" again later.',
      not_found: 'The members cannot be listed: the account is not a member of this group.',
      refused: 'The members cannot be listed: WhatsApp refused the question.',
      failed: 'The members cannot be listed: WhatsApp did not answer. Write "members" again later.',
    },
  },
  es: {
    invitation: 'Invitación para unirse a mi grupo de WhatsApp',
    members: (count) => `Miembros de este grupo: ${count}`,
    part: (part, parts) => `parte ${part} de ${parts}`,
    roles: { superadmin: 'propietario', admin: 'administrador' },
    noMembers: {
      not_ready:
        'No se pueden listar los miembros: la cuenta no está conectada a WhatsApp. Escriba "members" de nuevo más tarde.',
      not_found: 'No se pueden listar los miembros: la cuenta no es miembro de este grupo.',
      refused: 'No se pueden listar los miembros: WhatsApp rechazó la consulta.',
      failed: 'No se pueden listar los miembros: WhatsApp no respondió. Escriba "members" de nuevo más tarde.',
    },
  },
  pt: {
    invitation: 'Convite para entrar no meu grupo do WhatsApp',
    members: (count) => `Membros deste grupo: ${count}`,
    part: (part, parts) => `parte ${part} de ${parts}`,
    roles: { superadmin: 'proprietário', admin: 'administrador' },
    noMembers: {
      not_ready:
        'Não é possível listar os membros: a conta não está conectada ao WhatsApp. Escreva "members" de novo mais tarde.',
      not_found: 'Não é possível listar os membros: a conta não é membro deste grupo.',
      refused: 'Não é possível listar os membros: o WhatsApp recusou a consulta.',
      failed: 'Não é possível listar os membros: o WhatsApp não respondeu. Escreva "members" de novo mais tarde.',
    },
  },
}
