// What is counted per instance and day.

export const usageCounters = ['messages_in', 'messages_out', 'spamguard_blocks', 'lifecycle_events'] as const

export type UsageCounter = (typeof usageCounters)[number]
export type UsageCounts = Record<UsageCounter, number>

export const noUsage: Readonly<UsageCounts> = {
  messages_in: 0,
  messages_out: 0,
  spamguard_blocks: 0,
  lifecycle_events: 0,
}
