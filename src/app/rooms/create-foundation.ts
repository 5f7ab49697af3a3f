// Creates what all other rooms use: storage, the view of the nodes, what dashboards watch, and what subscribers are told.

import type { InstanceName } from '../../core/ids.ts'
import { AccountEvents } from '../account-events.ts'
import type { Base } from '../base.ts'
import { createLifecycle } from '../create-lifecycle.ts'
import { createStorage } from '../create-storage.ts'
import { createTraces } from '../create-traces.ts'
import { createLive, createLiveRecords, noteMessage } from '../live/create-live.ts'
import { createNodeView } from '../nodes/create-node-view.ts'
import { DutyRelay } from '../nodes/duty-relay.ts'
import { onlyNode } from '../nodes/node-view.ts'
import { onlyNodeDuties } from '../nodes/only-node-duties.ts'
import type { LaterRooms } from './later-rooms.ts'
import type { RoomOptions } from './room-options.ts'

export type Foundation = Awaited<ReturnType<typeof createFoundation>>

/** `onFatal` is called with the reason when the service cannot go on. */
export async function createFoundation(
  base: Base,
  options: RoomOptions,
  { later, onFatal }: { later: LaterRooms; onFatal: (reason: Error) => void },
) {
  const duties =
    options.duties ?? new DutyRelay(() => later.cluster.get()?.duties ?? onlyNodeDuties(() => later.instances.get()))
  const events = new AccountEvents()
  const live = createLive(base)
  // Before storage, so that the last spans are sent after the lease is given back.
  const traces = await createTraces(base, (count) => {
    metrics.droppedSpans.inc(count)
  })
  const storage = await createStorage(base, {
    ...{ onFatal, stopping: options.stopping, duties, cellProgram: options.cellProgram },
    onCounted: (...counted) => {
      noteMessage(live.relay, records, ...counted)
    },
  })
  const { database, holds, idClock, usage, metrics, node } = storage
  const tellOwner = (instance: InstanceName) => later.cluster.get()?.tellOwner(instance)
  const isComplete = () => later.cluster.get()?.isComplete() ?? false
  const nodes = options.nodes ?? (node ? createNodeView(base, { node, database, tellOwner, isComplete }) : onlyNode)
  const records = createLiveRecords(base, { database, holds, idClock })
  const lifecycle = createLifecycle(base, { database, duties, metrics, usage, events, live: live.relay })
  return { duties, events, live, traces, storage, nodes, records, lifecycle }
}
