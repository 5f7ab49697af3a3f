// The use case behind the endpoint that imports the address book. A request that is refused leaves nothing behind.

import { randomUUID } from 'node:crypto'
import type { Caller } from '../../../core/audit.ts'
import { BridgeError } from '../../../core/errors.ts'
import type { InstanceName } from '../../../core/ids.ts'
import type { InstanceState } from '../../../core/instance.ts'
import type { ContactsImportParams } from '../../../core/jobs/contacts-jobs.ts'
import type { AddedJob, Jobs } from '../../../jobs/jobs.ts'
import { noHelpdesk } from '../../../jobs/no-helpdesk.ts'
import { notReady } from '../../../jobs/not-ready.ts'
import type { Clock } from '../../../lib/clock.ts'

type Deps = {
  jobs: Pick<Jobs, 'add'>
  /** Contacts do not follow the names of their people when this is false. */
  renames: boolean
  /** Whether a helpdesk inbox is configured for the instance. */
  hasHelpdesk: (instance: InstanceName) => Promise<boolean>
  clock: Pick<Clock, 'now'>
}

/** The instance whose address book is imported. */
type Account = { instance: InstanceName; ownerTag: string; state: InstanceState; actor: Caller }

export class ContactsImports {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async start({ instance, ownerTag, state, actor }: Account, params: ContactsImportParams): Promise<AddedJob> {
    const { jobs, renames, hasHelpdesk, clock } = this.#deps
    if (state !== 'ready') throw notReady(state)
    if (!renames && !params.create) throw nothingToDo()
    if (!(await hasHelpdesk(instance))) throw noHelpdesk(instance)
    const target = params.only ?? 'all'
    const audit = { at: clock.now(), actor, action: 'contacts.import', instance, ownerTag, target } as const
    const metadata = { create: params.create }
    return jobs.add(instance, { type: 'contacts_import', params }, [{ ...audit, metadata, key: randomUUID() }])
  }
}

function nothingToDo(): BridgeError {
  const sentence =
    'contacts do not follow names: set SERVICE_RETROACTIVE_NAME_UPDATE to true, or ask for new contacts with create'
  return new BridgeError('SERVICE_NAMES_DISABLED', sentence)
}
