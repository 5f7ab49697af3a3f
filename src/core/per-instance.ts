// The interface of every part that keeps memory per instance.
//
// The registry calls it for every part in the composition. A part that is missing there keeps stale memory when an instance
// is deleted and created again under the same name, or when it moves to another process and back.

import type { InstanceName } from './ids.ts'

export type PerInstance = {
  /**
   * The instance becomes live in this process. Loads what is stored for the instance; nothing of it is connected yet.
   * The part remembers nothing of this instance before. A part that loads nothing leaves this out.
   */
  take?(instance: InstanceName): Promise<void> | void
  /**
   * The instance is about to move to another process, and is still connected. Begins no more work on it, and resolves when the
   * work under way has ended. `leave` follows. A part whose work may be cut short at any time leaves this out.
   */
  rest?(instance: InstanceName): Promise<void>
  /**
   * The instance stops in this process: it is deleted or moves. Ends the work on it and drops what the part remembers of it.
   * What is stored stays. A second call does no harm.
   */
  leave(instance: InstanceName): Promise<void> | void
}
