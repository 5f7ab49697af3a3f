// Looks at the time limits of the rows of many instances.

import type { InstanceName } from '../../../core/ids.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { OutboxTransitions } from '../../../storage/stores/messages/outbox-transitions.ts'
import type { TimeNeeds } from '../../../storage/stores/messages/waiting-sql.ts'

/** How many instances one read looks at. An instance has up to 200 rows that wait, and a read keeps others waiting. */
const looksAtOnce = 10

type Deps = { transitions: Pick<OutboxTransitions, 'timeNeeds'>; clock: Pick<Clock, 'now'> }

export async function* timeNeedsOf(
  { transitions, clock }: Deps,
  instances: readonly InstanceName[],
): AsyncGenerator<[InstanceName, TimeNeeds]> {
  for (let from = 0; from < instances.length; from += looksAtOnce) {
    yield* await transitions.timeNeeds(instances.slice(from, from + looksAtOnce), clock.now())
  }
}
