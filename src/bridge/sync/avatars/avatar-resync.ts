// Has the pictures of all contacts of a helpdesk inbox looked at again, because an operator asks for it.

import { parseChat } from '../../../core/address.ts'
import type { Chat } from '../../../core/address.ts'
import { DownstreamError } from '../../../core/downstream.ts'
import type { ContactsPage, HelpdeskInbox, ListedContact } from '../../../core/downstream.ts'
import { BridgeError } from '../../../core/errors.ts'
import type { InstanceName } from '../../../core/ids.ts'
import { sleep } from '../../../lib/clock.ts'
import type { Clock } from '../../../lib/clock.ts'
import { SingleFlight } from '../../../lib/queues/single-flight.ts'
import { chatOfSourceId } from '../../conversations/contact-spec.ts'
import type { Avatars } from './avatars.ts'

type Deps = {
  /** Null when the instance has no helpdesk inbox. */
  targetOf: (instance: InstanceName) => Promise<{ helpdesk: Pick<HelpdeskInbox, 'contactsPage'> } | null>
  avatars: Pick<Avatars, 'resync'>
  clock: Clock
}

/**
 * scanned  contacts of the helpdesk inbox
 * skipped  those whose address is not one of the network
 * queued   those whose picture is looked at, now or later
 */
export type ResyncResult = { scanned: number; skipped: number; queued: number; pages: number }

/** Chatwoot has 15 contacts on a page. */
const mostPages = 200
/** Between two pages, so that messages do not wait for the helpdesk. */
const pageMs = 50

export class AvatarResync {
  readonly #deps: Deps
  readonly #flights = new SingleFlight()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when all pages are read. A second call meanwhile gets the same result. */
  run(instance: InstanceName): Promise<ResyncResult> {
    return this.#flights.run(instance, () => this.#scan(instance))
  }

  async #scan(instance: InstanceName): Promise<ResyncResult> {
    const target = await fromHelpdesk(this.#deps.targetOf(instance))
    if (!target) {
      throw new BridgeError(
        'SERVICE_NO_HELPDESK',
        'no helpdesk is configured for the instance: set DOWNSTREAM_* or its tenant',
      )
    }
    const result = { scanned: 0, skipped: 0, queued: 0, pages: 0 }
    // A contact that is created meanwhile moves others to the next page.
    const seen = new Set<number>()
    let page: ContactsPage
    do {
      if (result.pages > 0) await sleep(this.#deps.clock, pageMs)
      page = await fromHelpdesk(target.helpdesk.contactsPage(++result.pages))
      for (const contact of page.contacts) {
        if (seen.has(contact.id)) continue
        seen.add(contact.id)
        result.scanned++
        const chat = chatOf(contact)
        if (chat) this.#deps.avatars.resync(instance, chat, contact.id)
        result[chat ? 'queued' : 'skipped']++
      }
    } while (!page.isLast && result.pages < mostPages)
    return result
  }
}

/** A program of the operator may have given the contact an identifier of its own. Its address in the inbox is ours then. */
function chatOf({ identifier, sourceIds }: ListedContact): Chat | undefined {
  const named = identifier === null ? undefined : parseChat(identifier)
  return named ?? sourceIds.flatMap((sourceId) => chatOfSourceId(sourceId) ?? [])[0]
}

async function fromHelpdesk<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (cause) {
    if (!(cause instanceof DownstreamError)) throw cause
    throw new BridgeError('SERVICE_HELPDESK_UNREACHABLE', `the helpdesk does not list its contacts: ${cause.message}`, {
      cause,
    })
  }
}
