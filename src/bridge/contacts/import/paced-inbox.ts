// A helpdesk inbox whose calls wait for the pace of jobs.

import type { HelpdeskInbox } from '../../../core/downstream.ts'
import type { ContactSpec } from '../../../core/helpdesk/contact.ts'

export type PacedInbox = Pick<HelpdeskInbox, 'ensureContact' | 'findContact' | 'updateContact'>

/** `turn` resolves when so many requests may be made. */
export function paceInbox(helpdesk: PacedInbox, turn: (requests: number) => Promise<void>): PacedInbox {
  return {
    ensureContact: async (spec, met) => {
      await turn(requestsFor(spec, met))
      return helpdesk.ensureContact(spec, met)
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

/** At most: a question for each address in the inbox, one for the account, and the creation. */
function requestsFor({ formerSourceIds }: ContactSpec, { isKnown } = { isKnown: false }): number {
  return (isKnown ? 1 : 0) + formerSourceIds.length + 2
}
