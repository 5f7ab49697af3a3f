// The labels of an account, as callers from outside of the connection use them.

import type { NetworkLabels } from '../../core/sync/labels.ts'

/** Faults of the work are traced to the connection. */
export function labelsInside(labels: NetworkLabels, inside: <Result>(work: () => Result) => Result): NetworkLabels {
  return {
    get isRead() {
      return labels.isRead
    },
    refresh: () => inside(() => labels.refresh()),
    name: (...args) => inside(() => labels.name(...args)),
    mark: (...args) => inside(() => labels.mark(...args)),
    addressOf: (chat) => inside(() => labels.addressOf(chat)),
  }
}
