// Assembles the parts of the simulated helpdesk: rows, jobs, webhooks, faults and the log of refusals.

import { assignAfter } from './desk/auto-assign.ts'
import type { Desk } from './desk/desk.ts'
import { RailsError } from './desk/rails-error.ts'
import { FaultPlan } from './faults/fault-plan.ts'
import { refuse } from './http/office.ts'
import type { Office, Refusal, Visit } from './http/office.ts'
import { EventLog } from '../event-log.ts'
import { SeededChoices } from './seeded-choices.ts'
import { stockSettings } from './settings.ts'
import type { SimHelpdeskOptions } from './settings.ts'
import { featuresOf } from './versions.ts'
import { ShiftableClock } from '../shiftable-clock.ts'
import { HelpdeskState } from './state/helpdesk-state.ts'
import { Watch } from './watch.ts'
import { JobQueue } from './webhooks/job-queue.ts'
import { WebhookDispatcher } from './webhooks/webhook-dispatcher.ts'

export type Parts = { office: Office; jobs: JobQueue; watch: Watch }

export function assemble(options: SimHelpdeskOptions, files: Office['files']): Parts {
  const { seed = 'causeway', clock = new ShiftableClock() } = options
  const choices = new SeededChoices(seed)
  const watch = new Watch()
  const complain = (reason: string) => {
    refuse(office, { kind: 'bad_webhook', method: 'POST', path: '', reason })
  }
  const jobs = new JobQueue({
    clock,
    threads: options.jobThreads ?? stockSettings.jobThreads,
    onDone: (error) => {
      // A job that fails a validation ends quietly, as in Sidekiq.
      if (error !== undefined && !(error instanceof RailsError)) complain(String((error as Error).stack))
      watch.changed()
    },
  })
  let laterJobs = 0
  const desk: Desk = {
    state: new HelpdeskState(),
    clock,
    choices,
    settings: { ...stockSettings, ...options },
    get features() {
      return featuresOf(desk.settings)
    },
    emit: (event) => {
      webhooks.emit(event)
      assignAfter(desk, event)
      watch.changed()
    },
    later: (work) => {
      jobs.enqueue(choices.between(desk.settings.quirks.delayMs, 'later', ++laterJobs), work)
    },
  }
  const webhooks = new WebhookDispatcher({ source: { desk, files }, jobs, complain })
  const office: Office = {
    desk,
    files,
    faults: new FaultPlan(choices),
    webhooks,
    refusals: new EventLog<Refusal>('refusals', sayRefusal),
    visits: new EventLog<Visit>('requests', ({ method, path, status }) => `${method} ${path} → ${status}`),
    agentTokens: new Set(),
    watch,
  }
  return { office, jobs, watch }
}

export function sayRefusal({ kind, method, path, reason }: Refusal): string {
  return `${kind}: ${method} ${path}: ${reason}`
}
