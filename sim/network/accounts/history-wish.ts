// What a companion asks of the history of its phone. The wish stands in the payload with which the companion is linked.
import { proto } from '../library.ts'
import type { LoginPayload } from '../wire/connection.ts'

export type HistoryWish = {
  /** Whether the phone sends more than the recent messages. */
  isFull: boolean
  /** How many days the full history reaches back. Undefined: the phone decides. */
  days: number | undefined
  /** How many days the recent history reaches back. Undefined: the phone decides. */
  recentDays: number | undefined
  /** Whether the companion reads a history that stands inside the message. */
  readsInline: boolean
}

export const NO_HISTORY_WISH: HistoryWish = { isFull: false, days: undefined, recentDays: undefined, readsInline: true }

export function historyWish({ devicePairingData }: LoginPayload['payload']): HistoryWish {
  const { requireFullSync, historySyncConfig } = proto.DeviceProps.decode(
    devicePairingData?.deviceProps ?? new Uint8Array(),
  )
  return {
    isFull: requireFullSync ?? false,
    days: historySyncConfig?.fullSyncDaysLimit ?? undefined,
    recentDays: historySyncConfig?.recentSyncDaysLimit ?? undefined,
    readsInline: historySyncConfig?.inlineInitialPayloadInE2EeMsg ?? false,
  }
}
