// One connection of an account to the scripted network.

import { readFile } from 'node:fs/promises'
import type { Person } from '../../../../src/core/address.ts'
import type { MessageKey } from '../../../../src/core/message.ts'
import { SendError } from '../../../../src/core/network.ts'
import type { GroupInfo, NetworkRestriction, NetworkSession, SendOptions, Sent } from '../../../../src/core/network.ts'
import type { OutgoingContent } from '../../../../src/core/network/outgoing-content.ts'
import type { ScriptedNetwork } from './scripted-network.ts'

// As long as a real session waits for the server's answer.
const patienceMs = 15_000

export class ScriptedSession implements NetworkSession {
  readonly #network: ScriptedNetwork
  readonly #instance: string
  readonly #ended = new AbortController()

  constructor(network: ScriptedNetwork, instance: string) {
    this.#network = network
    this.#instance = instance
  }

  async send(to: string, content: OutgoingContent, id: string, { after }: SendOptions = {}): Promise<Sent> {
    after?.catch(() => undefined)
    const bytes = content.type === 'file' ? await readFile(content.file.path) : null
    await this.#network.whilePreparing()
    await after?.catch(() => {
      throw new SendError('not_sent', 'the message was not released')
    })
    this.#network.beforeFrame(this.#network.frames + 1)
    if (this.#ended.signal.aborted) throw new SendError('not_sent', 'the connection was lost before the message left')
    this.#network.frames += 1
    this.#network.frameIds.add(id)
    if (this.#network.silent.has(this.#instance)) await this.#waitInVain()
    const fault = this.#network.nextFault()
    if (fault?.kind === 'ack_error') throw refusal(fault.code)
    const message = { instance: this.#instance, to, id, content, bytes }
    this.#network.take(message)
    await this.#network.afterFrame(this.#network.frames, message)
    if (fault?.kind === 'in_doubt') throw inDoubt()
    if (fault) await this.#waitInVain()
    return { at: this.#network.now() }
  }

  newMessageId(): string {
    return this.#network.newId()
  }

  findPerson(phone: string): Promise<Person | null> {
    return this.#network.findPerson(phone)
  }

  groupInfo(id: string): Promise<GroupInfo> {
    return Promise.resolve(this.#network.groupInfo(id))
  }

  profilePicture(): Promise<'none'> {
    return Promise.resolve('none')
  }

  get groups(): never {
    throw new Error('the groups are not managed')
  }

  get labels(): never {
    throw new Error('the labels are not managed')
  }

  requestHistory(): never {
    throw new Error('the phone has no history')
  }

  rejectCall(): never {
    throw new Error('nobody calls')
  }

  markRead(keys: readonly MessageKey[]): Promise<void> {
    this.#network.reads.push(...keys)
    return Promise.resolve()
  }

  setTyping(to: string, typing: boolean): Promise<void> {
    this.#network.typing.push({ instance: this.#instance, to, typing })
    return Promise.resolve()
  }

  subscribeToPresence(to: string): Promise<void> {
    this.#network.subscriptions.push({ instance: this.#instance, to })
    return Promise.resolve()
  }

  setAvailable(available: boolean): Promise<void> {
    const { presences, clock } = this.#network
    presences.push({ instance: this.#instance, available, at: clock.now() })
    return Promise.resolve()
  }

  restriction(): Promise<NetworkRestriction> {
    const { restriction } = this.#network
    return restriction ? Promise.resolve(restriction) : Promise.reject(new Error('the network does not answer'))
  }

  end(): void {
    this.#ended.abort()
  }

  probe(): Promise<void> {
    return Promise.resolve()
  }

  requestPairingCode(): never {
    throw new Error('the account is linked')
  }

  requestFileAgain(): never {
    throw new Error('there are no files')
  }

  logout(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  /** Until the connection ends, or until the patience does. */
  #waitInVain(): Promise<never> {
    const { promise, reject } = Promise.withResolvers<never>()
    const giveUp = () => {
      reject(inDoubt())
    }
    if (this.#ended.signal.aborted) giveUp()
    this.#ended.signal.addEventListener('abort', giveUp)
    this.#network.clock.after(patienceMs, giveUp)
    return promise
  }
}

function inDoubt(): SendError {
  return new SendError('unknown', 'the network did not acknowledge the message')
}

function refusal(code: number): SendError {
  const outcome = code >= 500 || code === 429 ? 'not_sent' : 'refused'
  return new SendError(outcome, `the network refused the message (code ${code})`, { code })
}
