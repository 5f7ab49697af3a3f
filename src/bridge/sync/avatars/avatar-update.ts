// Gives one contact the picture that its person or group has on the network now.
//
// A picture that an agent set stays. Before each upload the contact is read: it must have no picture, or one of ours.

import { randomBytes } from 'node:crypto'
import { DownstreamError } from '../../../core/downstream.ts'
import type { Destination, HelpdeskInbox } from '../../../core/downstream.ts'
import type { ShownContact } from '../../../core/helpdesk/contact.ts'
import type { DestinationKey, InstanceName } from '../../../core/ids.ts'
import type { NetworkSession } from '../../../core/network.ts'
import { NetworkBusyError } from '../../../core/realtime.ts'
import type { NoPicture, ProfilePicture } from '../../../core/realtime.ts'
import type { HoldOf } from '../../../core/nodes/hold.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { mimeByContent } from '../../../lib/mime-by-content.ts'
import { KeyedLanes } from '../../../lib/queues/keyed-lanes.ts'
import type { ContactPicture, ContactPictureStore } from '../../../storage/stores/people/contact-picture-store.ts'
import type { SyncResults } from '../realtime-counts.ts'
import type { AvatarContacts } from './avatar-contacts.ts'
import type { AvatarTask, Pause } from './avatar-queue.ts'
import { freshForMs, isOurs } from './avatar-rules.ts'

type Deps = {
  /** Null when the instance has no helpdesk inbox. */
  targetOf: (instance: InstanceName) => Promise<Target | null>
  /** Undefined while the instance is not connected. */
  sessionOf: (instance: InstanceName) => Pick<NetworkSession, 'profilePicture'> | undefined
  contacts: Pick<AvatarContacts, 'find'>
  store: Pick<ContactPictureStore, 'find' | 'save' | 'drop'>
  holdOf: HoldOf
  ttlMs: number
  clock: Clock
  log: Log
}

type Target = { destination: Destination; helpdesk: HelpdeskInbox }
type Job = { task: AvatarTask; contactId: number; destination: DestinationKey; helpdesk: HelpdeskInbox }

/** `restMs`: how long an active chat is no reason to look again. */
export type Outcome = { result: SyncResults['avatar']; restMs: number }

/** How soon an active chat is looked at again after a failure. */
const failedMs = 600_000
/** How soon it is tried again whether the instance is connected. */
const disconnectedMs = 5_000

export class AvatarUpdate {
  readonly #deps: Deps
  /** Two accounts may share a contact. */
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Undefined when the chat has no contact. Rejects when storage fails. */
  async run(task: AvatarTask, signal: AbortSignal): Promise<Outcome | Pause | undefined> {
    const { targetOf, contacts } = this.#deps
    const target = await targetOf(task.instance).catch((err: unknown) => this.#failed(task, 'ds_error', err))
    if (!target || 'result' in target) return target ?? undefined
    const { helpdesk, destination } = target
    const contactId = task.contactId ?? (await contacts.find(task.instance, task.chat, destination.key))
    if (contactId === null) return undefined
    const job = { task, contactId, destination: destination.key, helpdesk }
    return this.#lanes.run(`${destination.key}|${contactId}`, () => this.#update(job, signal))
  }

  async #update(job: Job, signal: AbortSignal): Promise<Outcome | Pause | undefined> {
    const { store, sessionOf, clock, ttlMs } = this.#deps
    const { task, contactId, destination } = job
    if (signal.aborted) return undefined
    const known = await store.find(destination, contactId)
    const freshMs = known ? freshForMs(known.checkedAt, clock.now(), ttlMs) : 0
    if (task.why === 'seen' && freshMs > 0) return { result: 'throttled', restMs: freshMs }
    const session = sessionOf(task.instance)
    if (!session) return { pauseMs: disconnectedMs }
    let picture: ProfilePicture | NoPicture
    try {
      picture = await session.profilePicture(task.chat)
    } catch (error) {
      if (error instanceof NetworkBusyError) return { pauseMs: error.retryAfterMs }
      return this.#stale(job, known, 'wa_error', error)
    }
    try {
      return await (typeof picture === 'string' ? this.#without(job, known, picture) : this.#show(job, known, picture))
    } catch (error) {
      if (!(error instanceof DownstreamError)) throw error
      return this.#stale(job, known, 'ds_error', error)
    }
  }

  /** The person has no picture. Ours is removed, if this account saw the picture before: another one may still see it. */
  async #without(job: Job, known: ContactPicture | undefined, picture: NoPicture): Promise<Outcome> {
    const { contactId, helpdesk, task } = job
    const mayRemove = picture === 'none' && known?.instance === task.instance && known.fileName !== null
    if (mayRemove) {
      const shown = await helpdesk.findContact(contactId)
      if (shown && shown.thumbnail !== null && isOurs(shown.thumbnail, known)) await helpdesk.removeAvatar(contactId)
      await this.#save(job, known, { pictureId: null, thumbnail: null })
    } else if (!known || known.instance === task.instance) await this.#save(job, known, {})
    return { result: 'wa_miss', restMs: this.#deps.ttlMs }
  }

  async #show(job: Job, known: ContactPicture | undefined, picture: ProfilePicture): Promise<Outcome> {
    const { task, contactId, helpdesk, destination } = job
    const done: Outcome = { result: 'ok', restMs: this.#deps.ttlMs }
    const isSame = known?.pictureId === picture.id && known.thumbnail !== null
    if (isSame && task.why !== 'resync') {
      await this.#save(job, known, {})
      return done
    }
    const shown = await helpdesk.findContact(contactId)
    if (!shown) {
      await this.#deps.store.drop(this.#deps.holdOf(task.instance), destination, contactId)
      return this.#failed(task, 'ds_error', new Error('the contact does not exist any more at the helpdesk'))
    }
    if (isSame && shown.thumbnail === known.thumbnail) {
      await this.#save(job, known, {})
      return done
    }
    if (isOfAgent(shown, known)) {
      await this.#save(job, known, { pictureId: null, thumbnail: null })
      return done
    }
    const bytes = await picture.read().catch((error: unknown) => this.#stale(job, known, 'wa_error', error))
    if (!Buffer.isBuffer(bytes)) return bytes
    // An agent may have set a picture while the file was fetched.
    const now = await helpdesk.findContact(contactId)
    if (now && !isOfAgent(now, known)) await this.#upload(job, known, { id: picture.id, bytes })
    return done
  }

  /** The file name is stored first: a crash or a lost answer would make our own picture look like the agent's. */
  async #upload(job: Job, known: ContactPicture | undefined, picture: { id: string; bytes: Buffer }): Promise<void> {
    const { contactId, helpdesk, task } = job
    const fileName = known?.fileName ?? `whatsapp-${randomBytes(8).toString('hex')}.jpg`
    if (!known?.fileName) await this.#save(job, known, { fileName, checkedAt: 0 })
    const mimeType = mimeByContent(picture.bytes, null) ?? 'image/jpeg'
    const shown: ShownContact = await helpdesk.setAvatar(contactId, { bytes: picture.bytes, mimeType, fileName })
    await this.#save(job, known, { fileName, pictureId: picture.id, thumbnail: shown.thumbnail })
    this.#deps.log.info({ instance: task.instance, contact: contactId }, 'a contact has a new picture')
  }

  async #save(job: Job, known: ContactPicture | undefined, changes: Partial<ContactPicture>): Promise<void> {
    const { store, holdOf, clock } = this.#deps
    const { contactId, task, destination } = job
    const { pictureId = null, thumbnail = null, fileName = null } = known ?? {}
    const seen = { contactId, instance: task.instance, checkedAt: clock.now() }
    await store.save(holdOf(task.instance), destination, { pictureId, thumbnail, fileName, ...seen, ...changes })
  }

  /** The picture is not at the helpdesk, so what is stored of the contact is not fresh any more. */
  async #stale(job: Job, known: ContactPicture | undefined, result: 'wa_error' | 'ds_error', err: unknown) {
    if (known && known.checkedAt !== 0) await this.#save(job, known, { instance: known.instance, checkedAt: 0 })
    return this.#failed(job.task, result, err)
  }

  #failed({ instance, why }: AvatarTask, result: 'wa_error' | 'ds_error', err: unknown): Outcome {
    this.#deps.log.warn({ err, instance, why, result }, 'a contact keeps its picture for now')
    return { result, restMs: Math.min(failedMs, this.#deps.ttlMs) }
  }
}

function isOfAgent({ thumbnail }: ShownContact, known: ContactPicture | undefined): boolean {
  return thumbnail !== null && !isOurs(thumbnail, known)
}
