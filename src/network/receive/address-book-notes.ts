// Notes how far the address book is stored.
//
// The library stores its own version of the address book before it tells the names. If the process ends before the names are
// stored, the network does not tell them again. The next connection then reads the address book from its beginning.

import { ignoreRejection } from '../../lib/ignore.ts'
import type { WASocket } from '../library/library.ts'

/** The collection of the app state that holds the address book. */
export const addressBook = 'critical_unblock_low'

/** The note is kept with the tokens of people. No jid has this name. */
const noteId = '__address_book'
/** The address book is being read from its beginning. */
const reading = 'reading'

export class AddressBookNotes {
  readonly #socket: Pick<WASocket, 'authState' | 'resyncAppState'>
  #storing = 0
  #hasFailed = false

  constructor(socket: Pick<WASocket, 'authState' | 'resyncAppState'>) {
    this.#socket = socket
  }

  /** Names of the address book are being stored. When all of them are, the version of the library is noted. */
  follow(storing: Promise<void>): void {
    this.#storing++
    const ended = () => {
      this.#storing--
      if (this.#storing === 0 && !this.#hasFailed) void this.#confirm().catch(ignoreRejection)
    }
    storing.then(ended, () => {
      this.#hasFailed = true
      ended()
    })
  }

  /** `onReread` is called before the whole address book is read again. */
  async readMissed(onReread: () => void): Promise<void> {
    const { keys } = this.#socket.authState
    const version = await this.#version()
    const note = await this.#note()
    // This connection stores what it was told, or the library has never read the address book and will.
    if (this.#storing > 0 || (version === null && note === null) || (version !== null && note === version)) return
    // In one write: without its version, the address book must be known as one to be read again.
    await keys.set({ 'app-state-sync-version': { [addressBook]: null }, tctoken: noteOf(reading) })
    onReread()
    await this.#socket.resyncAppState([addressBook], false)
  }

  async #confirm(): Promise<void> {
    const version = await this.#version()
    if (version !== null) await this.#socket.authState.keys.set({ tctoken: noteOf(version) })
  }

  async #version(): Promise<string | null> {
    const { [addressBook]: state } = await this.#socket.authState.keys.get('app-state-sync-version', [addressBook])
    return state ? String(state.version) : null
  }

  async #note(): Promise<string | null> {
    const { [noteId]: note } = await this.#socket.authState.keys.get('tctoken', [noteId])
    return note ? note.token.toString() : null
  }
}

function noteOf(text: string): Record<string, { token: Buffer }> {
  return { [noteId]: { token: Buffer.from(text) } }
}
