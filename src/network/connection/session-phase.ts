// The phases of one connection, and what moves it from one phase to the next.
//
// connecting    → the network has not authenticated the account yet; a pairing stays here until it ends
// drained_early → like connecting, but the backlog was already handed over
// authenticated → logged in; the backlog is being handed over
// ready         → logged in, and the backlog was handed over
// ended         → the socket is closed; the last writes are on their way to storage

type Phase = 'connecting' | 'drained_early' | 'authenticated' | 'ready' | 'ended'
type Step = 'authenticate' | 'drain' | 'end'

/** A step that is missing here changes nothing. */
const transitions: Record<Phase, Partial<Record<Step, Phase>>> = {
  connecting: { authenticate: 'authenticated', drain: 'drained_early', end: 'ended' },
  drained_early: { authenticate: 'ready', end: 'ended' },
  authenticated: { drain: 'ready', end: 'ended' },
  ready: { end: 'ended' },
  ended: {},
}

export class SessionPhase {
  #current: Phase = 'connecting'

  get current(): Phase {
    return this.#current
  }

  /** False when the step changes nothing in the current phase. */
  move(step: Step): boolean {
    const next = transitions[this.#current][step]
    if (next === undefined) return false
    this.#current = next
    return true
  }
}
