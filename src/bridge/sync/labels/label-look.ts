// Looks at the labels of one chat on both sides and brings them together.

import { groupIdOf, groupJid, lidJid, phoneJid } from '../../../core/address.ts'
import type { Chat } from '../../../core/address.ts'
import { DownstreamError } from '../../../core/downstream.ts'
import type { Destination, HelpdeskInbox } from '../../../core/downstream.ts'
import type { ChatId, InstanceName, Jid } from '../../../core/ids.ts'
import type { NetworkLabels } from '../../../core/sync/labels.ts'
import type { Log } from '../../../lib/log.ts'
import type { LabelAgreement } from '../../../storage/stores/people/label-agreement-store.ts'
import type { ConversationDirectory } from '../../conversations/conversation-directory.ts'
import type { EventContexts } from '../../conversations/event-context.ts'
import type { People } from '../../people/people.ts'
import type { SyncResults } from '../realtime-counts.ts'
import type { HelpdeskLabelWriter } from './helpdesk-label-writer.ts'
import { agreedAfter, mergeLabels } from './merge-labels.ts'
import type { LabelChanges } from './merge-labels.ts'
import type { LabelChat, NetworkLabelWriter } from './network-label-writer.ts'

export type LabelResult = SyncResults['labels']
/** `isDone` is false when the look must be repeated. */
export type LookOutcome = { result: LabelResult; agreement: LabelAgreement; isDone: boolean }

type Target = { instance: InstanceName; destination: Destination; helpdesk: HelpdeskInbox }

type Deps = {
  targetOf: (instance: InstanceName) => Promise<Target | null>
  people: Pick<People, 'ofId'>
  contexts: Pick<EventContexts, 'knownChat'>
  conversations: Pick<ConversationDirectory, 'existing'>
  network: Pick<NetworkLabelWriter, 'titlesOf' | 'add' | 'remove'>
  helpdesk: Pick<HelpdeskLabelWriter, 'read' | 'write'>
  log: Log
}

export type Look = { instance: InstanceName; chat: ChatId; agreement: LabelAgreement; network: NetworkLabels }

export class LabelLook {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Rejects only when storage fails. */
  async run(look: Look): Promise<LookOutcome> {
    try {
      return await this.#run(look)
    } catch (err) {
      if (!(err instanceof DownstreamError)) throw err
      this.#deps.log.info({ err, instance: look.instance }, 'labels wait for the helpdesk')
      return { result: 'ds_error', agreement: look.agreement, isDone: false }
    }
  }

  async #run({ instance, chat: chatId, agreement, network }: Look): Promise<LookOutcome> {
    const { targetOf, contexts, conversations, helpdesk } = this.#deps
    const nothing = (result: LabelResult): LookOutcome => ({ result, agreement, isDone: true })
    const target = await targetOf(instance)
    const known = await this.#chatOf(instance, chatId)
    const contact = known && (await contexts.knownChat(instance, known.chat))
    if (!target || !contact) return nothing('no_contact')
    const conversation = await conversations.existing(contact, { ...target, onStep: () => undefined })
    if (typeof conversation === 'string') return nothing(conversation)
    const at = { target, conversationId: conversation.id }
    const shown = await helpdesk.read(at)
    if (!shown) return nothing('no_conv')
    const isSame = agreement.destination === target.destination.key && agreement.conversationId === conversation.id
    // A conversation that is new to the chat gets the labels of the chat. Its own labels stay.
    const agreed = new Set(isSame ? agreement.titles : [])
    const on: LabelChat = { instance, ...known, network }
    const changes = mergeLabels(agreed, { network: await this.#deps.network.titlesOf(on), helpdesk: shown.titles })
    const written = await helpdesk.write(at, shown, changes.helpdesk)
    const isCarried = await this.#carry(on, changes.network, shown.nameOf)
    const sides = { network: await this.#deps.network.titlesOf(on), helpdesk: written.titles }
    return {
      result: resultOf(isCarried, written.isComplete, changes),
      agreement: {
        destination: target.destination.key,
        conversationId: conversation.id,
        titles: [...agreedAfter(agreed, sides)].sort(),
      },
      isDone: isCarried !== 'failed',
    }
  }

  async #carry(
    on: LabelChat,
    { add, remove }: LabelChanges['network'],
    nameOf: (title: string) => string,
  ): Promise<'done' | 'limit' | 'failed'> {
    const { network, log } = this.#deps
    let isComplete = true
    try {
      for (const title of add) isComplete = (await network.add(on, title, nameOf(title))) && isComplete
      for (const title of remove) await network.remove(on, title)
      return isComplete ? 'done' : 'limit'
    } catch (err) {
      log.info({ err, instance: on.instance }, 'labels wait for the network')
      return 'failed'
    }
  }

  async #chatOf(instance: InstanceName, chatId: ChatId): Promise<{ chat: Chat; jids: Jid[] } | null> {
    const groupId = groupIdOf(chatId)
    if (groupId !== null) return { chat: { kind: 'group', id: groupId }, jids: [groupJid(groupId)] }
    const person = await this.#deps.people.ofId(instance, chatId)
    if (!person) return null
    const { phone, lid, formerPhones } = person
    const phones = [...(phone === null ? [] : [phone]), ...formerPhones]
    const jids = [...phones.map(phoneJid), ...(lid === null ? [] : [lidJid(lid)])]
    return { chat: { kind: 'person', phone, lid }, jids }
  }
}

function resultOf(carried: 'done' | 'limit' | 'failed', isShown: boolean, changes: LabelChanges): LabelResult {
  if (carried === 'failed') return 'wa_error'
  if (carried === 'limit') return 'limit'
  if (!isShown) return 'not_shown'
  const all = [changes.network, changes.helpdesk].flatMap(({ add, remove }) => [...add, ...remove])
  return all.length > 0 ? 'ok' : 'duplicate'
}
