// Stores which pictures we gave to the contacts at the helpdesk, and when the network was last asked for a picture.

import type { DestinationKey, InstanceName } from '../../../core/ids.ts'
import type { Hold } from '../../../core/nodes/hold.ts'
import type { Database } from '../../database.ts'
import { createFence } from '../fence.ts'
import type { Fence } from '../fence.ts'

export type ContactPicture = {
  contactId: number
  /** The instance that asked the network last. */
  instance: InstanceName
  /** The id that the network gives to the picture that we uploaded; null when the contact has no picture of ours. */
  pictureId: string | null
  /** The address of the picture at the helpdesk after our upload. */
  thumbnail: string | null
  /** The file name of all our uploads to this contact; null before the first one. */
  fileName: string | null
  /** When the network was last asked; 0 when its answer is not at the helpdesk yet. */
  checkedAt: number
}

export class ContactPictureStore {
  readonly #database: Database
  readonly #fence: Fence

  constructor(database: Database) {
    this.#database = database
    this.#fence = createFence(database)
  }

  async find(destination: DestinationKey, contactId: number): Promise<ContactPicture | undefined> {
    const query = this.#database.query.selectFrom('contact_pictures').selectAll()
    const [row] = await this.#database.read(
      query.where('destination', '=', destination).where('contact_id', '=', contactId),
    )
    if (!row) return undefined
    const { instance, picture_id: pictureId, thumbnail, file_name: fileName, checked_at: checkedAt } = row
    return { contactId, instance, pictureId, thumbnail, fileName, checkedAt }
  }

  async save(hold: Hold, destination: DestinationKey, picture: ContactPicture): Promise<void> {
    const { contactId, instance, pictureId, thumbnail, fileName, checkedAt } = picture
    const columns = { instance, picture_id: pictureId, thumbnail, file_name: fileName, checked_at: checkedAt }
    await this.#database.write(
      this.#fence(hold),
      this.#database.query
        .insertInto('contact_pictures')
        .values({ destination, contact_id: contactId, ...columns })
        .onConflict((conflict) => conflict.columns(['destination', 'contact_id']).doUpdateSet(columns)),
    )
  }

  async drop(hold: Hold, destination: DestinationKey, contactId: number): Promise<void> {
    const removal = this.#database.query.deleteFrom('contact_pictures').where('destination', '=', destination)
    await this.#database.write(this.#fence(hold), removal.where('contact_id', '=', contactId))
  }
}
