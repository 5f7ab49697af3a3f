// Translates the jobs about contacts to the JSON of the API.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import { mostFindings, pairOutcomes, pairReasons } from '../../core/jobs/contacts-jobs.ts'
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

const oneOf = <const T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], description })

const reasons =
  'same_address: both stand for the same phone number, anonymous id or group; phone_and_lid: WhatsApp stated that the phone number and the anonymous id are one person; mobile_variants: two spellings of one mobile number'
const outcomes =
  'would_merge: in a dry run; merged; changed: a contact was changed meanwhile, repair again; failed: the helpdesk refused; different_emails, one_is_blocked: agents treat them differently; in_other_inbox: the contact that would go is in another inbox too; two_accounts: WhatsApp uses both spellings; spelling_unknown: it is not known which spelling WhatsApp uses'

export const RepairedContacts = Type.Object(
  {
    scanned: Type.Integer({ description: 'Contacts of the helpdesk inbox' }),
    pairs: Type.Integer({ description: 'Pairs of contacts that may be one person' }),
    merged: Type.Integer({ description: 'Pairs that are one contact now; 0 in a dry run' }),
    skipped: Type.Integer({ description: 'Pairs that are not merged; the outcome of each says why' }),
    errors: Type.Integer({ description: 'Pairs whose merge the helpdesk refused' }),
    listed: Type.Array(
      Type.Object({
        keep: Type.Integer({ description: 'The id of the contact that stays' }),
        drop: Type.Integer({ description: 'The id of the contact that is merged into it' }),
        reason: oneOf(pairReasons, reasons),
        outcome: oneOf(pairOutcomes, outcomes),
      }),
      { description: `The first ${mostFindings} pairs` },
    ),
  },
  { title: 'RepairedContacts' },
)

export const Adopted = Type.Object(
  {
    scanned: Type.Integer({
      description: 'Contacts with a conversation in the helpdesk inbox: the sum of the next seven',
    }),
    adopted: Type.Integer({ description: 'Contacts of which something was taken over, or would be in a dry run' }),
    unchanged: Type.Integer({ description: 'Contacts that were taken over before' }),
    own: Type.Integer({ description: 'Contacts under which the other bridge itself writes' }),
    unmarked: Type.Integer({ description: 'Contacts that the other bridge did not make' }),
    unknown: Type.Integer({ description: 'Contacts that stand for nobody who can be written to' }),
    doubled: Type.Integer({ description: 'Contacts of somebody who has another contact' }),
    errors: Type.Integer({ description: 'Contacts that the helpdesk refused' }),
    conversations: Type.Integer({ description: 'Conversations that get the next message of their chat' }),
    messages: Type.Integer({ description: 'Messages that can be quoted from now on' }),
    last_written_at: nullable(Timestamp),
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

export function toAdopted({ lastWrittenAt, ...counts }: AdoptResult): Static<typeof Adopted> {
  return { ...counts, last_written_at: lastWrittenAt === null ? null : toTimestamp(lastWrittenAt) }
}
