// What the rest of the service does when this node gets an instance, loses it or is to give it away.

import type { Hold } from '../../core/nodes/hold.ts'
import type { SeenNode } from '../../core/nodes/node.ts'

/** The calls for one instance come one after the other. A call that rejects is made again after a pause. */
export type Holder = {
  /** The instance is ours now: open it. `lost` aborts when it is not ours any more; `lose` follows. */
  take(hold: Hold, lost: AbortSignal): Promise<void>
  /** It is not ours any more: close it quietly and drop its memory, even if the same epoch comes back. */
  lose(hold: Hold): Promise<void>
  /**
   * The nodes wish that another one has the instance. `tried`: the database tells whether it was given away, and `lose` follows
   * then. `not_now`: the instance has work that must not be interrupted, so the wish is dropped, and may come again.
   */
  giveAway(hold: Hold, to: SeenNode, lost: AbortSignal): Promise<'tried' | 'not_now'>
  /** True: close all connections. False: this is still the same node with the same epochs, which goes on. */
  isolated(is: boolean): void
}
