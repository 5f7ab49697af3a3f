// Has the pictures of all contacts of a helpdesk inbox looked at again, because an operator asks for it.

import { parseChat } from '../../../core/address.ts'
import type { Chat } from '../../../core/address.ts'
import type { HelpdeskInbox } from '../../../core/downstream.ts'
import type { ContactsPage, ListedContact } from '../../../core/helpdesk/contact.ts'
import type { InstanceName } from '../../../core/ids.ts'
import type { PerInstance } from '../../../core/per-instance.ts'
import { sleep } from '../../../lib/clock.ts'
import type { Clock } from '../../../lib/clock.ts'
import { chatOfSourceId } from '../../conversations/contact-spec.ts'
import { refuse, requireTarget } from '../helpdesk-refusals.ts'
import { InstanceRuns } from '../instance-runs.ts'
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
/** The pause between two pages. Without it messages would wait for the helpdesk. */
const pageMs = 50

export class AvatarResync implements PerInstance {
  readonly #deps: Deps
  readonly #runs = new InstanceRuns<ResyncResult>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Resolves when all pages are read. A second call meanwhile gets the same result. */
  run(instance: InstanceName): Promise<ResyncResult> {
    return this.#runs.run(instance, (signal) => this.#scan(instance, signal))
  }

  leave(instance: InstanceName): void {
    this.#runs.end(instance)
  }

  async #scan(instance: InstanceName, signal: AbortSignal): Promise<ResyncResult> {
    const target = await requireTarget(this.#deps.targetOf(instance))
    const result = { scanned: 0, skipped: 0, queued: 0, pages: 0 }
    // A contact that is created meanwhile moves others to the next page.
    const seen = new Set<number>()
    let page: ContactsPage
    do {
      if (result.pages > 0) await sleep(this.#deps.clock, pageMs, signal)
      page = await target.helpdesk.contactsPage(++result.pages).catch(refuse)
      signal.throwIfAborted()
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
