// The jobs about the contacts of a helpdesk inbox: what they are asked for, what they tell while they run, and what became of
// them.

import type { Caller } from '../audit.ts'
import type { OtherBridge } from '../other-bridges/other-bridges.ts'

/**
 * contacts_import  make the people of the address book known to the helpdesk
 * contacts_repair  merge contacts that are one person
 * adopt            take over contacts and conversations that another bridge created
 */
export const contactsJobTypes = ['contacts_import', 'contacts_repair', 'adopt'] as const
export type ContactsJobType = (typeof contactsJobTypes)[number]

/** `done` and `total` count what the job looks at. */
export type ContactsProgress = {
  done: number
  total: number
  errors: number
  /** When the job will probably end; null when that is not known. */
  estimatedEndAt: number | null
}

/** The progress of a job that has not begun. */
export const noContactsProgress: ContactsProgress = { done: 0, total: 0, errors: 0, estimatedEndAt: null }

export type ContactsImportParams = {
  /** saved: only people whom the owner of the phone has saved. Null: people of whom only the push name is known, too. */
  only: 'saved' | null
  /** People whom the helpdesk does not have become contacts. */
  create: boolean
}

/** Counts people. scanned = renamed + created + skipped + errors. */
export type ContactsImportResult = {
  scanned: number
  renamed: number
  created: number
  /** Nothing to change, or not allowed to be changed. */
  skipped: number
  errors: number
}

export type RepairParams = {
  dryRun: boolean
  /** Who asked for the repair: the audit log names them for each merge. Absent in jobs of versions without a dashboard. */
  actor?: Caller
}

/**
 * same_address     both stand for the same phone number, anonymous id or group
 * phone_and_lid    the network stated that the phone number and the anonymous id are one person
 * mobile_variants  two spellings of one mobile number, of which the network uses one
 */
export const pairReasons = ['same_address', 'phone_and_lid', 'mobile_variants'] as const
export type PairReason = (typeof pairReasons)[number]

/**
 * different_emails  agents gave the contacts different e-mail addresses
 * one_is_blocked    agents blocked one of the contacts
 * in_other_inbox    the contact that would go is in another inbox too
 * two_accounts      the network uses both spellings of the number
 * spelling_unknown  it is not known which spelling of the number the network uses
 */
const pairRefusals = [
  'different_emails',
  'one_is_blocked',
  'in_other_inbox',
  'two_accounts',
  'spelling_unknown',
] as const
export type PairRefusal = (typeof pairRefusals)[number]

/**
 * would_merge  only in a dry run
 * merged       the helpdesk has one contact now
 * changed      a contact was changed or removed after the list was read: the next repair looks at it again
 * failed       the helpdesk refused the merge
 */
export const pairOutcomes = ['would_merge', 'merged', 'changed', 'failed', ...pairRefusals] as const
export type PairOutcome = (typeof pairOutcomes)[number]

/** `keep` and `drop` are contact ids at the helpdesk. */
export type RepairFinding = { keep: number; drop: number; reason: PairReason; outcome: PairOutcome }

/** The findings that a result lists. The counts have no limit. */
export const mostFindings = 1000

/** pairs = merged + skipped + errors. In a dry run nothing is merged: pairs - skipped would be. */
export type RepairResult = {
  /** Contacts of the helpdesk inbox. */
  scanned: number
  pairs: number
  merged: number
  skipped: number
  errors: number
  /** At most `mostFindings`. */
  listed: readonly RepairFinding[]
}

export type AdoptParams = { from: OtherBridge; dryRun: boolean }

/**
 * Counts contacts that have a conversation in the helpdesk inbox, except where said otherwise.
 * scanned = adopted + unchanged + own + unmarked + unknown + doubled + errors.
 */
export type AdoptResult = {
  scanned: number
  /** Something of them was taken over. In a dry run: would be. */
  adopted: number
  /** All of them is taken over already. */
  unchanged: number
  /** The other bridge itself writes under them. */
  own: number
  /** Nothing of them says that the other bridge made them. */
  unmarked: number
  /** They stand for no person and no group. */
  unknown: number
  /** Another contact stands for the same person or group. */
  doubled: number
  errors: number
  /** Conversations that get the next message of their chat. */
  conversations: number
  /** Messages whose ids are known from now on. */
  messages: number
  /** When the other bridge wrote last, as far as its messages show it; epoch milliseconds. */
  lastWrittenAt: number | null
}

/** The parts of each job. */
export type ContactsJobKinds = {
  contacts_import: { params: ContactsImportParams; progress: ContactsProgress; result: ContactsImportResult }
  contacts_repair: { params: RepairParams; progress: ContactsProgress; result: RepairResult }
  adopt: { params: AdoptParams; progress: ContactsProgress; result: AdoptResult }
}
