// The times of membership, in milliseconds on the monotonic clock of each node. No two clocks are compared.
//
// The order keeps a connection from being open twice: a node without beats closes its connections (`closeMs`) before the first
// watcher may give it up (`patienceMs`).

export const beatEveryMs = 500
export const beatDeadlineMs = 1500

/** A watcher whose own beats had a longer gap has seen nothing: it begins to watch anew. */
export const longestGapMs = 3 * beatEveryMs

/** A node whose beat stands still for so long is dead for a watcher. */
export const patienceMs = 4000

/** From here on a node without beats asks the others how they are. Measured, like the next two, from before its last beat. */
export const askPeersAfterMs = 3000

/** A node without beats for so long neither sends nor acknowledges. */
export const ownLimitMs = 3500

/** A node that others may give up closes its connections by then. */
export const closeMs = 3800

/** A watcher that has watched for longer may soon give up a node. */
export const longWatchMs = 3000
