// A name for failures that are ignored on purpose, so that readers see the intent and a search finds every place.

/** For `.catch(ignoreRejection)` where the failure is reported elsewhere or does not matter. */
export function ignoreRejection(): undefined {
  return undefined
}
