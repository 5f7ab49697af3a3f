// The lifecycle events that a subscriber can choose from, as the API names them.

export const lifecycleEvents = [
  'paired',
  'connected',
  'disconnected',
  'unreachable',
  'reconnected',
  'logged_out',
  'qr_generated',
  'spam_blocked',
  'ban_risk',
  'strike',
  'outgoing_expired',
  'backend_started',
  'backend_restarting',
]
