// The jobs about the contacts of a helpdesk inbox: what they are asked for, what they tell while they run, and what became of
// them.

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

export type RepairParams = { dryRun: boolean }

/** `keep` and `drop` are contact ids at the helpdesk. */
export type RepairFinding = { keep: number; drop: number; reason: string; outcome: string }

/** The findings that a result lists. The counts have no limit. */
export const mostFindings = 1000

export type RepairResult = {
  scanned: number
  pairs: number
  merged: number
  skipped: number
  errors: number
  /** At most `mostFindings`. */
  listed: readonly RepairFinding[]
}

export const otherBridges = ['evolution', 'waha', 'gowa'] as const
export type OtherBridge = (typeof otherBridges)[number]

export type AdoptParams = { from: OtherBridge; dryRun: boolean }

export type AdoptResult = {
  contacts: number
  conversations: number
  messages: number
  adopted: number
  skipped: number
  errors: number
}

/** The parts of each job. */
export type ContactsJobKinds = {
  contacts_import: { params: ContactsImportParams; progress: ContactsProgress; result: ContactsImportResult }
  contacts_repair: { params: RepairParams; progress: ContactsProgress; result: RepairResult }
  adopt: { params: AdoptParams; progress: ContactsProgress; result: AdoptResult }
}
