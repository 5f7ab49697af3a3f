// The lifecycle events that subscribers can receive.

export const lifecycleEvents = [
  'paired',
  'connected',
  'disconnected',
  'unreachable',
  'logged_out',
  'qr_generated',
  'spam_blocked',
  'backend_started',
  'backend_restarting',
  'reconnected',
  'strike',
  'ban_risk',
  'outgoing_expired',
] as const

export type LifecycleEvent = (typeof lifecycleEvents)[number]

export type WebhookSubscriber = { url: string; events: readonly LifecycleEvent[] }

/** The fields of an event besides those that every event has. */
export type EventExtras = Readonly<Record<string, string | number | boolean | null>>
