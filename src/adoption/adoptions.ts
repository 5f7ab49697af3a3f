// The use case behind the endpoint that takes over a helpdesk inbox.

import { randomUUID } from 'node:crypto'
import type { Caller } from '../core/audit.ts'
import type { InstanceName } from '../core/ids.ts'
import type { AdoptParams } from '../core/jobs/contacts-jobs.ts'
import type { Job } from '../core/jobs/job.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { noHelpdesk } from '../jobs/no-helpdesk.ts'
import type { Clock } from '../lib/clock.ts'

type Deps = {
  jobs: Pick<Jobs, 'add'>
  /** Whether a helpdesk inbox is configured for the instance. */
  hasInbox: (instance: InstanceName) => Promise<boolean>
  clock: Pick<Clock, 'now'>
}

type Account = { instance: InstanceName; ownerTag: string; actor: Caller }

export class Adoptions {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The instance need not be connected: all that is needed is at the helpdesk. */
  async start(of: Account, params: AdoptParams): Promise<Job> {
    const { jobs, hasInbox, clock } = this.#deps
    const { instance, ownerTag, actor } = of
    if (!(await hasInbox(instance))) throw noHelpdesk(instance)
    const { from, dryRun } = params
    const entry = { at: clock.now(), actor, action: 'instance.adopt', instance, ownerTag, target: from } as const
    const audits = [{ ...entry, key: randomUUID(), metadata: { dry_run: dryRun } }]
    return (await jobs.add(instance, { type: 'adopt', params: { from, dryRun } }, audits)).job
  }
}
