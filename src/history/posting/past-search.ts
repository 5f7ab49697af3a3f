// Says whether the helpdesk has a message of the history that the message map does not know: the map forgets old messages, and
// a new instance begins with an empty one.

import type { ChatContact } from '../../bridge/conversations/conversation-directory.ts'
import type { HelpdeskTarget } from '../../bridge/conversations/conversation-opener.ts'
import type { Contact, ContactSpec } from '../../core/helpdesk/contact.ts'
import type { NetworkMessageId } from '../../core/ids.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { SingleFlight } from '../../lib/queues/single-flight.ts'
import type { ContactStore } from '../../storage/stores/people/contact-store.ts'

type Deps = {
  /** The contact of a chat, which is created when there is none. */
  contactOf: (spec: ContactSpec, target: HelpdeskTarget) => Promise<Contact>
  contacts: Pick<ContactStore, 'shownToOthersOnly'>
  clock: Clock
}

type Asked = { jobId: string; chat: ChatContact; target: HelpdeskTarget; at: number }

/** The source ids of all messages since that time. */
type Found = { since: number; ids: ReadonlySet<string> }

/** More chats than are imported at the same time, over all instances: a chat that is forgotten is searched anew. */
const maxChats = 256
const keptMs = 3_600_000

export class PastSearch {
  readonly #deps: Deps
  readonly #found: BoundedMap<Found>
  readonly #flights = new SingleFlight()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#found = new BoundedMap({ clock: deps.clock, max: maxChats, ttlMs: keptMs })
  }

  /** The helpdesk is asked once for each job and chat, with the first and oldest message. */
  async has(id: NetworkMessageId, asked: Asked): Promise<boolean> {
    const { jobId, chat, target, at } = asked
    const key = [jobId, target.destination.key, chat.chatId].join('|')
    const known = this.#found.get(key)
    if (known && known.since <= at) return known.ids.has(id)
    const found = await this.#flights.run(key, () => this.#find(asked))
    this.#found.set(key, found)
    return found.ids.has(id)
  }

  async #find({ chat, target, at: since }: Asked): Promise<Found> {
    const { contactOf, contacts } = this.#deps
    const contact = await contactOf(await chat.describe(), target)
    if (contact.created) return { since, ids: new Set() }
    const conversations = await target.helpdesk.conversationsSince(contact, since)
    // Accounts that share a helpdesk inbox have the same message ids in a common group.
    const { key: destination } = target.destination
    const theirs = await contacts.shownToOthersOnly(destination, chat.instance, conversations)
    const ids = new Set<string>()
    for (const conversation of conversations) {
      if (theirs.includes(conversation)) continue
      for (const id of await target.helpdesk.sourceIds(conversation)) ids.add(id)
    }
    return { since, ids }
  }
}
