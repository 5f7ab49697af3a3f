// Changes the text of a message that we sent, within the 15 minutes that the network allows.

import { parseChat } from '../../core/address.ts'
import { BridgeError } from '../../core/errors.ts'
import { SendError } from '../../core/network.ts'
import type { Jid, NetworkMessageId } from '../../core/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { MappedMessage, MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import type { SentMessageStore } from '../../storage/stores/messages/sent-message-store.ts'
import { textOfMarkdown } from './compose/text-of-markdown.ts'
import type { OutboundMetrics, Who } from './send/outbound-metrics.ts'
import type { Recipients } from './send/recipients.ts'
import type { SendingAccounts } from './send/sending-accounts.ts'

const editWindowMs = 15 * 60_000

type Deps = {
  map: Pick<MessageMapStore, 'findByNetworkId' | 'contentOf'>
  sent: Pick<SentMessageStore, 'saveContent'>
  recipients: Pick<Recipients, 'refOf'>
  metrics: Pick<OutboundMetrics, 'acknowledged' | 'lost'>
  accounts: Pick<SendingAccounts, 'sessionOf'>
  clock: Clock
  log: Log
}

export type EditRequest = { who: Who; waid: NetworkMessageId; chat: Jid; content: string }

/** Resolves when the network has acknowledged the edit. */
export async function editMessage(deps: Deps, { who, waid, chat, content }: EditRequest): Promise<void> {
  const { instance } = who
  const parsed = parseChat(chat)
  if (!parsed) throw new BridgeError('SERVICE_BAD_REQUEST', 'chat is not a jid such as 5511999999999@s.whatsapp.net')
  const ref = await deps.recipients.refOf(instance, parsed)
  const found = await deps.map.findByNetworkId(instance, [waid])
  const ours = found.find((each) => each.direction !== 'in' && each.kind === 'message' && each.chat === ref.chatId)
  if (!ours) throw refused('there is no message of ours with this id in this chat')
  // Of a message that the service sent, the time by our own clock is known.
  const sentAt = ours.direction === 'out' ? ours.claimedAt : ours.networkAt
  if (deps.clock.now() - sentAt > editWindowMs) throw refused('it is older than 15 minutes')
  const session = deps.accounts.sessionOf(instance)
  if (!session) throw refused('the instance is not connected')
  const { networkKey } = ours
  const text = await textOfMarkdown(content)
  try {
    await session.send(networkKey.chat, { type: 'edit', target: networkKey, text }, session.newMessageId())
  } catch (error) {
    deps.metrics.lost(who, networkKey.chat, 'edit')
    throw refused(error instanceof SendError ? error.message : 'the network did not take the edit', error)
  }
  deps.metrics.acknowledged(who, networkKey.chat, 'edit')
  await remember(deps, ours, text).catch((err: unknown) => {
    deps.log.warn({ err, instance }, 'an edited message could not be stored: quotes of it show the old text')
  })
}

/** Quotes show the new text, and a device that asks for the message again gets it. It offers no choices any more. */
async function remember(
  { map, sent }: Deps,
  { id, instance }: Pick<MappedMessage, 'id' | 'instance'>,
  text: string,
): Promise<void> {
  const content = { ...(await map.contentOf(id)), text }
  delete content.choices
  await sent.saveContent(instance, id, content)
}

function refused(reason: string, cause?: unknown): BridgeError {
  return new BridgeError('SERVICE_NETWORK_FAILED', `the message cannot be edited: ${reason}`, { cause })
}
