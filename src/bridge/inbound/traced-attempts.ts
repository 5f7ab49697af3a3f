// Shows every attempt to deliver a received message in its trace.

import { factsOfEvent, subjectOfEvent } from '../../core/trace/traces.ts'
import type { Traces } from '../../core/trace/traces.ts'
import type { AttemptJob, DeliveryAttempt } from './delivery-attempt.ts'

type Attempts = Pick<DeliveryAttempt, 'run'>

export function tracedAttempts(attempts: Attempts, traces: Pick<Traces, 'during'>): Attempts {
  return {
    run(job: AttemptJob, signal: AbortSignal): Promise<void> {
      const { instance, event } = job.row
      const facts = { ...factsOfEvent(instance, event), attempt: job.progress.failures + 1 }
      const step = { subject: subjectOfEvent(instance, event), name: 'deliver', facts } as const
      return traces.during(step, () => attempts.run(job, signal))
    },
  }
}
