// A helpdesk inbox whose calls wait for the pace of jobs.

import type { HelpdeskInbox } from '../../../core/downstream.ts'
import type { ContactSpec } from '../../../core/helpdesk/contact.ts'

export type PacedInbox = Pick<HelpdeskInbox, 'ensureContact' | 'findContact' | 'updateContact'>

/** `turn` resolves when so many requests may be made. */
export function paceInbox(helpdesk: PacedInbox, turn: (requests: number) => Promise<void>): PacedInbox {
  return {
    ensureContact: async (spec) => {
      await turn(requestsFor(spec))
      return helpdesk.ensureContact(spec)
    },
    findContact: async (id) => {
      await turn(1)
      return helpdesk.findContact(id)
    },
    updateContact: async (id, changes) => {
      await turn(1)
      await helpdesk.updateContact(id, changes)
    },
  }
}

/** A question for each address in the inbox, one for the account, and the creation. */
function requestsFor({ formerSourceIds }: ContactSpec): number {
  return 1 + formerSourceIds.length + 2
}
