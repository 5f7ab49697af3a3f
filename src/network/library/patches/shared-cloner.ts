// Shares the cloner of the library's caches. Each of them has a whole cache of its own beside its entries, and uses it only to copy
// values. The library makes such a cache for every connection, which costs each account 4.5 KB.
//
// No upstream issue is known. Entries, their ages and what is copied stay as they are.

import { NodeCache } from '@cacheable/node-cache'

type WithCloner = { _cacheable: unknown }

export function shareCloner(): void {
  const { prototype } = NodeCache
  const startInterval: unknown = Object.getOwnPropertyDescriptor(prototype, 'startInterval')?.value
  if (typeof startInterval !== 'function') throw new Error('the cache of the library has changed: look at this patch')
  let cloner: unknown
  // The last step of the constructor.
  prototype.startInterval = function (this: NodeCache<unknown>) {
    const own = this as unknown as WithCloner
    own._cacheable = cloner ??= own._cacheable
    startInterval.call(this)
  }
}
