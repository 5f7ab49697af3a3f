// The parts that carry profile pictures, with real stores, a clock that stands still, and a network and a helpdesk in memory.

import { chatJid } from '../../../../src/core/address.ts'
import type { Chat } from '../../../../src/core/address.ts'
import type { HelpdeskInbox } from '../../../../src/core/downstream.ts'
import type { ListedContact } from '../../../../src/core/helpdesk/contact.ts'
import type { NetworkSession } from '../../../../src/core/network.ts'
import { AvatarResync } from '../../../../src/bridge/sync/avatars/avatar-resync.ts'
import { AvatarUpdate } from '../../../../src/bridge/sync/avatars/avatar-update.ts'
import { Avatars } from '../../../../src/bridge/sync/avatars/avatars.ts'
import { LeaseStore } from '../../../../src/storage/stores/lease-store.ts'
import { ContactPictureStore } from '../../../../src/storage/stores/people/contact-picture-store.ts'
import type { Database } from '../../../../src/storage/database.ts'
import { newDatabase } from '../../../harness/databases.ts'
import { silentLog } from '../../../harness/logs.ts'
import { ManualClock } from '../../../harness/manual-clock.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import { holdsAt } from '../../../harness/holds.ts'

export const hourMs = 3_600_000
const destination = { key: 'd', baseUrl: 'https://desk.example', accountId: 1, inboxId: 1, apiToken: 't' }

export function person(n: number): Chat {
  return { kind: 'person', phone: String(5_511_900_000_000 + n), lid: null }
}

/** The contact of a person has the number of the person as its id. */
function contactOf(chat: Chat): number {
  return chat.kind === 'person' ? Number(chat.phone) - 5_511_900_000_000 : 1_000_000
}

export class AvatarBed {
  readonly clock = new ManualClock()
  readonly avatars: Avatars
  readonly resync: AvatarResync
  /** The ids of the pictures on the network, or `none` or `hidden`; by address. A picture's bytes are its id. */
  readonly pictures = new Map<string, string>()
  /** The chats that the network was asked for. */
  readonly asked: string[] = []
  /** The addresses of the pictures at the helpdesk, by contact. */
  readonly thumbnails = new Map<number, string>()
  /** What was uploaded to which contact. */
  readonly uploads: [contact: number, picture: string][] = []
  readonly counted: Record<string, number> = {}
  /** Runs before an answer of the network; throws to fail the question. */
  beforeAnswer: (address: string) => void | Promise<void> = () => undefined
  /** Runs before the file of a picture is there. */
  beforeFile: (address: string) => void = () => undefined
  isConnected = true
  /** The instances whose received messages are under way. */
  readonly busy = new Set<string>()
  pages: (page: number) => { contacts: ListedContact[]; isLast: boolean } = () => ({ contacts: [], isLast: true })
  #uploads = 0
  readonly #create: () => Avatars

  private constructor(database: Database, epoch: number) {
    const { clock } = this
    const log = silentLog
    const target = { destination, helpdesk: this.#helpdesk() as HelpdeskInbox }
    const targetOf = () => Promise.resolve(target)
    const update = new AvatarUpdate({
      targetOf,
      sessionOf: () => (this.isConnected ? this.#session() : undefined),
      contacts: { find: (_, chat) => Promise.resolve(contactOf(chat)) },
      store: new ContactPictureStore(database),
      ...holdsAt(() => epoch),
      ttlMs: 24 * hourMs,
      clock,
      log,
    })
    const count = (_: string, __: string, result: string) => {
      this.counted[result] = (this.counted[result] ?? 0) + 1
    }
    const isBusy = (instance: string) => this.busy.has(instance)
    this.#create = () => new Avatars({ update, counts: { count }, isBusy, ttlMs: 24 * hourMs, clock, log })
    this.avatars = this.#create()
    this.resync = new AvatarResync({ targetOf, avatars: this.avatars, clock })
  }

  static async open(stack: AsyncDisposableStack): Promise<AvatarBed> {
    const { database } = stack.use(await newDatabase('sqlite'))
    const epoch = await new LeaseStore(database).acquire('test', 600_000)
    const bed = new AvatarBed(database, epoch ?? 0)
    stack.use(bed.avatars)
    return bed
  }

  seen(n: number, instance = 'a'): void {
    this.avatars.seen(instance, person(n), destination.key)
  }

  /** The same part after a restart: only what is stored is known. */
  restarted(): Avatars {
    this.avatars[Symbol.dispose]()
    return this.#create()
  }

  /** Lets time pass until the condition holds, so that the pace of the questions does not hold them back. */
  async afterPaces(what: string, holds: () => boolean): Promise<void> {
    await waitUntil(what, async () => {
      for (let seconds = 0; seconds < 20 && !holds(); seconds++) await this.clock.advance(1_000)
      return holds()
    })
  }

  async counts(expected: Record<string, number>): Promise<void> {
    const wanted = JSON.stringify(Object.entries(expected).sort())
    const holds = () => JSON.stringify(Object.entries(this.counted).sort()) === wanted
    await waitUntil('the results are counted', holds, { instead: () => this.counted })
  }

  async uploaded(...expected: [number, string][]): Promise<void> {
    const holds = () => JSON.stringify(this.uploads) === JSON.stringify(expected)
    await waitUntil('the pictures are uploaded', holds, { instead: () => this.uploads })
  }

  #session(): Pick<NetworkSession, 'profilePicture'> {
    return {
      profilePicture: async (chat) => {
        const address = chatJid(chat)
        this.asked.push(address)
        await this.beforeAnswer(address)
        const id = this.pictures.get(address) ?? 'none'
        return id === 'none' || id === 'hidden' ? id : { id, read: () => this.#read(address, id) }
      },
    }
  }

  #read(address: string, id: string): Promise<Buffer> {
    this.beforeFile(address)
    return Promise.resolve(Buffer.from(id))
  }

  #helpdesk(): Partial<HelpdeskInbox> {
    return {
      findContact: (id) => Promise.resolve({ id, name: '', thumbnail: this.thumbnails.get(id) ?? null }),
      setAvatar: (id, { bytes, fileName }) => {
        const thumbnail = `https://desk.example/blobs/${++this.#uploads}/${fileName}`
        this.thumbnails.set(id, thumbnail)
        this.uploads.push([id, bytes.toString()])
        return Promise.resolve({ id, name: '', thumbnail })
      },
      removeAvatar: (id) => {
        this.thumbnails.delete(id)
        return Promise.resolve()
      },
      contactsPage: (page) => Promise.resolve(this.pages(page)),
    }
  }
}
