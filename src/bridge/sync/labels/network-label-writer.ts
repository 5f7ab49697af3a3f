// Sets and removes labels of a chat at the network. A label that the network does not have is created there.

import type { Chat } from '../../../core/address.ts'
import type { InstanceName, Jid } from '../../../core/ids.ts'
import { mostLabels } from '../../../core/sync/labels.ts'
import type { NetworkLabels } from '../../../core/sync/labels.ts'
import { KeyedLanes } from '../../../lib/queues/keyed-lanes.ts'
import type { LabelStore, StoredLabel } from '../../../storage/stores/people/label-store.ts'

type Deps = {
  labels: Pick<LabelStore, 'labels' | 'labelsOf' | 'labelledChats'>
  /** The network has as many labels as it takes. */
  onLimit: (instance: InstanceName) => void
}

/** A chat of an instance: who it is with, and the addresses under which the network may keep its labels. */
export type LabelChat = { instance: InstanceName; chat: Chat; jids: readonly Jid[]; network: NetworkLabels }

export class NetworkLabelWriter {
  readonly #deps: Deps
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The titles of the labels of the chat. */
  async titlesOf({ instance, jids }: Pick<LabelChat, 'instance' | 'jids'>): Promise<Set<string>> {
    const { labels } = this.#deps
    const titles = new Map((await labels.labels(instance)).map(({ id, title }) => [id, title]))
    const ids = (await labels.labelsOf(instance, jids)).map(({ labelId }) => labelId)
    return new Set(ids.flatMap((id) => titles.get(id) ?? []))
  }

  /** Sets the label with this title. `name` is its name if it must be created. False when no more labels can be created. */
  async add(to: LabelChat, title: string, name: string): Promise<boolean> {
    const label = (await this.#find(to.instance, title)) ?? (await this.#create(to, title, name))
    if (!label) return false
    await to.network.mark(label.id, await to.network.addressOf(to.chat), true)
    return true
  }

  async remove({ instance, jids, network }: LabelChat, title: string): Promise<void> {
    const label = await this.#find(instance, title)
    for (const { jid, labelId } of await this.#deps.labels.labelsOf(instance, jids)) {
      if (labelId === label?.id) await network.mark(labelId, jid, false)
    }
  }

  async #find(instance: InstanceName, title: string): Promise<StoredLabel | undefined> {
    return (await this.#deps.labels.labels(instance)).find((label) => label.title === title)
  }

  /** One at a time for each instance: two new labels must not get the same id. */
  #create({ instance, network }: LabelChat, title: string, name: string): Promise<StoredLabel | undefined> {
    return this.#lanes.run(instance, async () => {
      await network.refresh()
      const known = await this.#deps.labels.labels(instance)
      const existing = known.find((label) => label.title === title)
      if (existing) return existing
      if (known.filter((label) => label.title !== null).length >= mostLabels) {
        this.#deps.onLimit(instance)
        return undefined
      }
      const id = await this.#newId(instance, known)
      await network.name(id, name)
      return { id, name, title }
    })
  }

  /** Chats may still have a label that does not exist any more. They must not get the new one. */
  async #newId(instance: InstanceName, known: readonly StoredLabel[]): Promise<string> {
    const ofChats = (await this.#deps.labels.labelledChats(instance)).map(({ labelId }) => labelId)
    const ids = [...new Set([...known.map(({ id }) => id), ...ofChats])]
    return String(Math.max(0, ...ids.map(Number)) + 1)
  }
}
