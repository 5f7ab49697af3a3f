// The tables behind the dashboard: changes of states, and the times of the last messages.

import type { InstanceName } from '../../core/ids.ts'
import type { InstanceState } from '../../core/instance.ts'

export type StateChangeTable = {
  /** Unique, so that a repeated write adds nothing. */
  id: string
  instance: InstanceName
  at: number
  state: InstanceState
  reason: string
}

export type LastMessageTable = {
  instance: InstanceName
  in_at: number | null
  out_at: number | null
}
