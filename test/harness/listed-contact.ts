// A contact as the helpdesk lists it, for tests that name only what matters to them.

import type { ListedContact } from '../../src/core/helpdesk/contact.ts'

export function listedContact(facts: Pick<ListedContact, 'id'> & Partial<ListedContact>): ListedContact {
  return {
    ...{ name: '', identifier: null, phone: null, email: null, isBlocked: false },
    ...{ sourceIds: [], elsewhere: false, attributes: {} },
    ...facts,
  }
}
