// Creates the parts that carry profile pictures to the helpdesk.

import { AvatarContacts } from '../../bridge/sync/avatars/avatar-contacts.ts'
import { AvatarResync } from '../../bridge/sync/avatars/avatar-resync.ts'
import { AvatarUpdate } from '../../bridge/sync/avatars/avatar-update.ts'
import { Avatars } from '../../bridge/sync/avatars/avatars.ts'
import { RealtimeCounts } from '../../bridge/sync/realtime-counts.ts'
import { ContactPictureStore } from '../../storage/stores/people/contact-picture-store.ts'
import { ContactStore } from '../../storage/stores/people/contact-store.ts'
import type { SyncParts } from './sync-parts.ts'

export type AvatarSet = { avatars: Avatars; resync: AvatarResync }

/** Null while pictures are switched off. */
export function createAvatars(parts: SyncParts): AvatarSet | null {
  const { config, clock, log, database, holds, metrics, people, sessionOf, targetOf, isBusy } = parts
  if (!config.sync.avatars) return null
  const ttlMs = config.sync.avatarTtl
  const contacts = new AvatarContacts({ people, contacts: new ContactStore(database) })
  const store = new ContactPictureStore(database)
  const update = new AvatarUpdate({ targetOf, sessionOf, contacts, store, ...holds, ttlMs, clock, log })
  const avatars = new Avatars({ update, counts: new RealtimeCounts({ metrics }), isBusy, ttlMs, clock, log })
  return { avatars, resync: new AvatarResync({ targetOf, avatars, clock }) }
}
