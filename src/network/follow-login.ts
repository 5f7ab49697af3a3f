// What follows the login of a connection: first the backlog is received, then everything that waits for its end begins.

import { ignoreRejection } from '../lib/ignore.ts'
import { BacklogDrain } from './connection/backlog-drain.ts'
import { askForMissingSalt } from './connection/missing-salt.ts'
import type { SessionEvents } from './connection/session-events.ts'
import type { Connection, ConnectionDeps } from './open-connection.ts'

type Deps = Pick<ConnectionDeps, 'account' | 'clock' | 'isLeaving'> & {
  /** Aborted when the connection ends. */
  gone: AbortSignal
}

/** Tells `events` when the server answers queries and when the backlog is received. */
export function followLogin(events: SessionEvents, { socket, journal }: Connection, deps: Deps): void {
  const { account, clock, isLeaving, gone } = deps
  if (isLeaving) {
    // The library prepares the connection before it reports the login. A logout need not wait for that.
    socket.ws.on('CB:success', events.loggedIn.bind(events))
    return
  }
  const drain = new BacklogDrain({
    socket,
    clock,
    isStorageAway: () => account.keys.isStorageAway,
    unstored: () => journal.unstoredBacklog,
    gone,
    onBegin: journal.backlogBegins.bind(journal),
    onEnd: () => {
      journal.backlogEnds()
      events.backlogEnded()
    },
  })
  drain.listen()
}

/** None of these is awaited, and each repeats or reports its own failure. */
export function continueAfterBacklog({ socket, phoneMessages, labels, names, inside }: Connection): void {
  void inside(() => phoneMessages.resume().catch(ignoreRejection))
  void inside(() => askForMissingSalt(socket).catch(ignoreRejection))
  inside(() => {
    labels.begin()
  })
  void inside(() => names.readMissed().catch(ignoreRejection))
}
