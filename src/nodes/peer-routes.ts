// The routes of the listener for other nodes, and the header with which a node says that it does not serve an instance.

/** What a node tells another one that answers for all instances: what it alone knows of those that it holds. */
export const ownViews = ['overview', 'details', 'jobs'] as const
export type OwnView = (typeof ownViews)[number]

export const peerRoutes = {
  forward: '/internal/forward',
  renewed: '/internal/renewed',
  look: '/internal/look',
  drain: '/internal/drain',
  overview: '/internal/overview',
  details: '/internal/details',
  jobs: '/internal/jobs',
  code: '/internal/code',
  settings: '/internal/settings',
  events: '/internal/events',
} as const

/** A cell has the address of the node that started it, with this and a key behind it. The rest of the path is a route of the cell. */
export const cellPath = '/cells/'

/** Comes with a 421, whose request changed nothing. */
export const refusalHeader = 'x-node-refusal'

/** `distrusted`: the secrets, the clocks or the versions of the two nodes differ. Another look does not help. */
export const refusals = ['leaving', 'not_held', 'other_node', 'distrusted'] as const
export type Refusal = (typeof refusals)[number]
