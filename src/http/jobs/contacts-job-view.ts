// Translates the jobs about contacts to the JSON of the API.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type {
  AdoptResult,
  ContactsImportResult,
  ContactsProgress,
  RepairResult,
} from '../../core/jobs/contacts-jobs.ts'
import { nullable, Timestamp, toTimestamp } from '../schemas.ts'

export const ContactsProgressBody = Type.Object(
  {
    done: Type.Integer({ description: 'People or contacts that were looked at' }),
    total: Type.Integer({ description: 'All that the job looks at' }),
    errors: Type.Integer(),
    estimated_end_at: nullable(Timestamp),
  },
  { title: 'ContactsProgress' },
)

export const ImportedContacts = Type.Object(
  {
    scanned: Type.Integer({ description: 'People of the address book: the sum of the next four' }),
    renamed: Type.Integer({ description: 'Contacts that have another name now' }),
    created: Type.Integer({ description: 'New contacts' }),
    skipped: Type.Integer({ description: 'People of whom nothing was changed' }),
    errors: Type.Integer({ description: 'People whose contact the helpdesk refused' }),
  },
  { title: 'ImportedContacts' },
)

export const RepairedContacts = Type.Object(
  {
    scanned: Type.Integer({ description: 'Contacts of the helpdesk inbox' }),
    pairs: Type.Integer({ description: 'Pairs of contacts that are one person' }),
    merged: Type.Integer(),
    skipped: Type.Integer(),
    errors: Type.Integer(),
    listed: Type.Array(
      Type.Object({
        keep: Type.Integer({ description: 'The id of the contact that stays' }),
        drop: Type.Integer({ description: 'The id of the contact that is merged into it' }),
        reason: Type.String(),
        outcome: Type.String(),
      }),
    ),
  },
  { title: 'RepairedContacts' },
)

export const Adopted = Type.Object(
  {
    contacts: Type.Integer(),
    conversations: Type.Integer(),
    messages: Type.Integer(),
    adopted: Type.Integer(),
    skipped: Type.Integer(),
    errors: Type.Integer(),
  },
  { title: 'Adopted' },
)

export function toContactsProgress(progress: ContactsProgress): Static<typeof ContactsProgressBody> {
  const { estimatedEndAt, ...counts } = progress
  return { ...counts, estimated_end_at: estimatedEndAt === null ? null : toTimestamp(estimatedEndAt) }
}

export function toImportedContacts(result: ContactsImportResult): Static<typeof ImportedContacts> {
  return result
}

export function toRepairedContacts({ listed, ...counts }: RepairResult): Static<typeof RepairedContacts> {
  return { ...counts, listed: [...listed] }
}

export function toAdopted(result: AdoptResult): Static<typeof Adopted> {
  return result
}
