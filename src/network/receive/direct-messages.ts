// Opens ordinary messages without the library, so that the messages of an account share commits.
//
// The library handles one message at a time and waits for the disk before it opens the next one. Here a message is opened as soon
// as the one before it is open in memory. As with the library, the network is told only what is stored. A message that is out of
// the ordinary goes to the library: from the backlog, from the owner, with several ciphertexts, sent again, or from a person
// whose two addresses are not known as a pair yet. So does a message that cannot be opened, and the library asks for it again.

import type { Person } from '../../core/address.ts'
import type { Jid } from '../../core/ids.ts'
import { eventLoopShare } from '../../lib/event-loop-share.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { Semaphore } from '../../lib/queues/semaphore.ts'
import type { DurableRepository } from '../account/durable-signal.ts'
import { isSame, personOf } from '../decode/origin.ts'
import { jidNormalizedUser } from '../library/library.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import type { Journal } from './journal.ts'
import type { NameListener } from './name-listener.ts'

type Deps = {
  socket: WASocket
  journal: Journal
  names: NameListener
  /** The account's own addresses. */
  own: () => Person
  /** Aborts when the connection ends. */
  gone: AbortSignal
}

type Ordinary = {
  id: string
  from: Jid
  participant: Jid | undefined
  author: Jid
  /** The other address of the author: the LID for a phone number, the phone number for a LID. */
  otherAddress: Jid | undefined
  type: 'msg' | 'pkmsg' | 'skmsg'
  ciphertext: Uint8Array
  pushName: string | undefined
}

const types: ReadonlySet<string> = new Set(['msg', 'pkmsg', 'skmsg'])
/** Parts of a stanza that the library acts on, besides the ciphertext. */
const special: ReadonlySet<string> = new Set(['plaintext', 'unavailable'])
/** A commit takes the messages of some milliseconds. */
const mostUnstored = 200
const plainDomain = /@(?:s\.whatsapp\.net|lid|g\.us)$/

export class DirectMessages {
  readonly #deps: Deps
  /** An account that is offline confirms messages as inactive. */
  #isOnline = false
  /** The messages that are open in memory only. While storage is away, the others wait unopened. */
  readonly #unstored = new Semaphore(mostUnstored)

  constructor(deps: Deps) {
    this.#deps = deps
    deps.socket.ev.on('connection.update', ({ isOnline }) => {
      if (isOnline !== undefined) this.#isOnline = isOnline
    })
  }

  /** Returns undefined or resolves to false if the message is for the library. The message waits for its turn. */
  open(stanza: BinaryNode, turn: Promise<void> | undefined): Promise<boolean> | undefined {
    const message = ordinaryOf(stanza)
    if (!message || isOwn(message.author, this.#deps.own())) return turn?.then(() => false)
    return this.#open(message, turn)
  }

  async #open(message: Ordinary, turn: Promise<void> | undefined): Promise<boolean> {
    await turn
    await eventLoopShare.next()
    const repository = this.#deps.socket.signalRepository as DurableRepository
    // Before it takes a place: the library may ask the network for the address.
    const author = await addressOf(repository, message).catch(() => undefined)
    if (!author) return false
    const leave = await this.#unstored.enter(this.#deps.gone)
    try {
      const opened = await openInMemory(repository, message, author).catch(() => undefined)
      if (!opened) return false
      this.#deps.journal.opened(message.ciphertext)
      await opened.durable
    } catch {
      // The keys are closed. The message is not confirmed, so the network will deliver it again.
      return true
    } finally {
      leave()
    }
    this.#confirm(message)
    const { pushName } = message
    if (pushName) this.#deps.names.heard(jidNormalizedUser(message.author), pushName)
    return true
  }

  /** If the connection ends meanwhile, the network delivers the message again and is told then. */
  #confirm({ from, participant, id }: Ordinary): void {
    const type = this.#isOnline ? undefined : 'inactive'
    this.#deps.socket.sendReceipt(from, participant, [id], type as 'inactive').catch(ignoreRejection)
  }
}

/** The address of the author's session. Undefined when the two addresses of the author are not known as a pair. */
async function addressOf(
  { lidMapping }: DurableRepository,
  { author, otherAddress }: Ordinary,
): Promise<Jid | undefined> {
  const isLid = author.endsWith('@lid')
  const stored = isLid ? otherAddress && (await lidMapping.getPNForLID(author)) : await lidMapping.getLIDForPN(author)
  if (otherAddress && userOf(stored ?? '') !== userOf(otherAddress)) return undefined
  return isLid ? author : (stored ?? author)
}

async function openInMemory(
  repository: DurableRepository,
  { from, author, type, ciphertext }: Ordinary,
  jid: Jid,
): Promise<{ durable: Promise<unknown> | undefined } | undefined> {
  if (type === 'skmsg') return repository.openGroupMessage({ group: from, authorJid: author, msg: ciphertext })
  return repository.openMessage({ jid, type, ciphertext })
}

function ordinaryOf({ attrs, content }: BinaryNode): Ordinary | undefined {
  const { id, from = '', participant, recipient, category, offline, notify } = attrs
  const isSpecial = recipient !== undefined || category !== undefined || offline !== undefined
  if (!id || isSpecial || !plainDomain.test(from) || !Array.isArray(content)) return undefined
  const author = from.endsWith('@g.us') ? (participant ?? '') : from
  if (author.endsWith('@g.us') || !plainDomain.test(author)) return undefined
  const [ciphertext, ...more] = content.filter(({ tag }) => tag === 'enc')
  if (!ciphertext || more.length > 0 || content.some(({ tag }) => special.has(tag))) return undefined
  const { type = '', count } = ciphertext.attrs
  if (!types.has(type) || count !== undefined || !(ciphertext.content instanceof Uint8Array)) return undefined
  return {
    id,
    from,
    participant,
    author,
    otherAddress: otherAddressOf(attrs, author),
    type: type as Ordinary['type'],
    ciphertext: ciphertext.content,
    pushName: notify,
  }
}

/** As the library reads it. */
function otherAddressOf(attrs: BinaryNode['attrs'], author: Jid): Jid | undefined {
  const mode = attrs['addressing_mode'] ?? (author.endsWith('lid') ? 'lid' : 'pn')
  return mode === 'lid'
    ? (attrs['participant_pn'] ?? attrs['sender_pn'] ?? attrs['peer_recipient_pn'])
    : (attrs['participant_lid'] ?? attrs['sender_lid'] ?? attrs['peer_recipient_lid'])
}

function isOwn(author: Jid, own: Person): boolean {
  const person = personOf(author)
  return !person || isSame(person, own)
}

function userOf(jid: Jid): string {
  return jid.split(/[:@]/, 1)[0] ?? ''
}
