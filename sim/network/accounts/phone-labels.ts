// The labels of a phone with WhatsApp Business: it creates, renames and deletes labels and sets them on chats.
import type { proto } from '../library.ts'
import type { Mutation } from './app-state-cipher.ts'
import type { AppState } from './app-state.ts'

type Deps = { appState: AppState; change: (mutation: Mutation) => void; now: () => number }
export type PhoneLabel = { id: string; name: string }

const API_VERSION = 3

export class PhoneLabels {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The labels that exist, also those that a companion created. */
  get all(): PhoneLabel[] {
    return this.#entries('label_edit').flatMap(([[, id = ''], { labelEditAction: edit }]) =>
      edit && !edit.deleted ? [{ id, name: edit.name ?? '' }] : [],
    )
  }

  /** The names of the labels of a chat, which is named by its address. */
  of(...addresses: string[]): string[] {
    const ids = this.#entries('label_jid').flatMap(([[, id = '', chat = ''], value]) =>
      value.labelAssociationAction?.labeled && addresses.includes(chat) ? [id] : [],
    )
    return this.all
      .filter(({ id }) => ids.includes(id))
      .map(({ name }) => name)
      .sort()
  }

  /** Creates a label and returns its id. */
  create(name: string, more: proto.SyncActionValue.ILabelEditAction = {}): string {
    const known = this.#entries('label_edit').map(([[, id]]) => Number(id))
    const id = String(Math.max(0, ...known) + 1)
    this.#edit(id, { name, ...more })
    return id
  }

  rename(id: string, name: string): void {
    this.#edit(id, { name })
  }

  delete(id: string): void {
    this.#edit(id, { name: this.all.find((one) => one.id === id)?.name ?? '', deleted: true })
  }

  /** Sets a label on a chat, or removes it. */
  mark(id: string, address: string, labeled = true): void {
    this.#change(['label_jid', id, address], { labelAssociationAction: { labeled } })
  }

  #edit(id: string, edit: proto.SyncActionValue.ILabelEditAction): void {
    this.#change(['label_edit', id], { labelEditAction: { color: 0, deleted: false, ...edit } })
  }

  #change(index: string[], value: proto.ISyncActionValue): void {
    this.#deps.change({ index, value: { timestamp: this.#deps.now(), ...value }, apiVersion: API_VERSION })
  }

  #entries(kind: string): [string[], proto.ISyncActionValue][] {
    return [...this.#deps.appState.entries.values()]
      .filter(({ index }) => index[0] === kind)
      .map(({ index, value }) => [index, value])
  }
}
