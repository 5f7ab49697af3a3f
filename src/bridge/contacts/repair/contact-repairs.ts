// The use case behind the endpoint that repairs duplicate contacts. A request that is refused leaves nothing behind.

import { randomUUID } from 'node:crypto'
import type { Caller } from '../../../core/audit.ts'
import type { InstanceName } from '../../../core/ids.ts'
import type { AddedJob, Jobs } from '../../../jobs/jobs.ts'
import { noHelpdesk } from '../../../jobs/no-helpdesk.ts'
import type { Clock } from '../../../lib/clock.ts'

type Deps = {
  jobs: Pick<Jobs, 'add'>
  /** Whether a helpdesk inbox is configured for the instance. */
  hasHelpdesk: (instance: InstanceName) => Promise<boolean>
  clock: Pick<Clock, 'now'>
}

type Account = { instance: InstanceName; ownerTag: string; actor: Caller }

export class ContactRepairs {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The account need not be connected: what the network stated of its people is stored. */
  async start({ instance, ownerTag, actor }: Account, { dryRun }: { dryRun: boolean }): Promise<AddedJob> {
    const { jobs, hasHelpdesk, clock } = this.#deps
    if (!(await hasHelpdesk(instance))) throw noHelpdesk(instance)
    const audit = { at: clock.now(), actor, action: 'contacts.repair', instance, ownerTag } as const
    const metadata = { dry_run: dryRun }
    const order = { type: 'contacts_repair', params: { dryRun, actor } } as const
    return jobs.add(instance, order, [{ ...audit, metadata, key: randomUUID() }])
  }
}
