// The time between the checks of a request and its commit, in which parallel requests race.

import type { Desk } from './desk.ts'

/** Resolves after the gap. Call it only if the settings have a gap: without one, requests run one at a time. */
export function raceGap({ clock, settings }: Desk): Promise<void> {
  return new Promise((resolve) => {
    clock.after(settings.raceMs, () => {
      resolve()
    })
  })
}
