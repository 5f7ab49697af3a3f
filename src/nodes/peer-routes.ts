// The routes of the listener for other nodes, and the header with which a node says that it does not serve an instance.

export const peerRoutes = {
  forward: '/internal/forward',
  renewed: '/internal/renewed',
  look: '/internal/look',
  drain: '/internal/drain',
  overview: '/internal/overview',
  code: '/internal/code',
  events: '/internal/events',
} as const

/** Comes with a 421, whose request changed nothing. */
export const refusalHeader = 'x-node-refusal'

/** `distrusted`: the secrets, the clocks or the versions of the two nodes differ. Another look does not help. */
export const refusals = ['leaving', 'not_held', 'other_node', 'distrusted'] as const
export type Refusal = (typeof refusals)[number]
