// What the page shows at one moment, as JSON.

import type { SeenMessage } from '../sim/helpdesk/snapshots.ts'
import type { ReceivedMessage } from '../sim/network/people/received-message.ts'
import { kindOfMessage, textOfMessage, unwrap } from '../sim/network/people/received-message.ts'
import type { Written } from './customer.ts'
import { chatOf } from './passages.ts'
import type { Show } from './show.ts'
import { instance } from './stage.ts'
import type { Bubble, Chat, Conversation, FileKind, Snapshot, Story, Tick } from './view.ts'

const shownPassages = 7
const shownBubbles = 60

export function takeSnapshot(show: Show): Snapshot {
  const { stage, passages, breakages, watch, customer, manners } = show
  const { bridge, phone, maria, world } = stage
  const view = watch.view
  const last = maria.side.entries.findLast(({ tag }) => tag === 'chatstate')
  return {
    bridge: {
      ...{ ...view, name: instance, phone: `+${phone.user.phone}` },
      ...{ url: bridge.url, starts: bridge.starts, pid: bridge.pid },
    },
    nodes: watch.nodes.view,
    death: watch.nodes.death,
    story: storyOf(show),
    broken: breakages.state,
    passages: passages.list().slice(-shownPassages),
    tally: { ...passages.tally(), repeated: view.repeated + show.repeatedCallbacks },
    phone: {
      group: customer.group?.subject ?? null,
      isCalling: customer.isCalling,
      isAnswerTyped: Array.isArray(last?.content) && last.content.some(({ tag }) => tag === 'composing'),
      bubbles: phoneBubbles(show),
    },
    helpdesk: {
      url: world.helpdesk.agentView,
      open: manners.openConversation,
      conversations: conversationsOf(show),
    },
  }
}

function storyOf({ isLinked, passages, breakages }: Show): Story {
  const arrived = passages.list().filter(({ arrivedAt }) => arrivedAt !== null)
  return {
    isLinked,
    hasReceived: arrived.some(({ direction }) => direction === 'in'),
    hasAnswered: arrived.some(({ direction }) => direction === 'out'),
    kinds: new Set(arrived.map(({ kind }) => kind)).size,
    hasBroken: breakages.wasUsed,
  }
}

function phoneBubbles(show: Show): Bubble[] {
  const { maria, phone } = show.stage
  const received = maria.messages.entries.filter(({ own }) => !own)
  const deleted = new Set(received.map(({ message }) => message.protocolMessage?.key?.id))
  const texts = new Map(show.customer.written.map(({ sent, text }) => [sent.id, text]))
  for (const each of received) texts.set(each.id, textOfMessage(each.message) ?? '')
  const answers = received
    .filter(({ message, from }) => from === phone.user && kindOfMessage(message) !== 'protocolMessage')
    .map((each) => answerOnPhone(show, each, { texts, deleted }))
  const written = show.customer.written.map((each) => writtenOnPhone(show, each, texts))
  return [...answers, ...written].sort((one, other) => one.at - other.at).slice(-shownBubbles)
}

function answerOnPhone(
  show: Show,
  { id, chat, message, stanza }: ReceivedMessage,
  { texts, deleted }: { texts: ReadonlyMap<string, string>; deleted: ReadonlySet<string | null | undefined> },
): Bubble {
  const content = unwrap(message)
  const quoted = content.extendedTextMessage?.contextInfo?.stanzaId
  return {
    ...{
      id,
      chat: chatOf(chat),
      isMine: false,
      author: 'Velo',
      text: texts.get(id) ?? '',
      tick: null,
      isEdited: false,
      isNote: false,
    },
    file: content.imageMessage ? { kind: 'image', url: `/files/phone/${id}` } : null,
    quote: quoted == null ? null : (texts.get(quoted) ?? ''),
    reaction: show.customer.reactions.get(id) ?? null,
    isDeleted: deleted.has(id),
    at: show.receivedAt(id) ?? Number(stanza.attrs.t ?? '0') * 1000,
  }
}

function writtenOnPhone(show: Show, written: Written, texts: ReadonlyMap<string, string>): Bubble {
  const { sent, author, kind, text, at, quotes, isDeleted, isEdited } = written
  const { maria } = show.stage
  const isMine = author === maria
  const kinds: Partial<Record<typeof kind, FileKind>> = { photo: 'image', voice: 'audio' }
  const fileKind = kinds[kind]
  return {
    ...{ id: sent.id, isMine, author: isMine ? null : author.user.pushName, text, at, isDeleted, isEdited },
    ...{ chat: kind === 'group' ? 'group' : 'customer', isNote: false, reaction: null },
    file: fileKind ? { kind: fileKind, url: `/files/phone/${sent.id}` } : null,
    quote: quotes === null ? null : (texts.get(quotes) ?? ''),
    tick: isMine ? tickOf(show, sent.id) : null,
  }
}

function tickOf(show: Show, id: string): Tick {
  const types = new Set(show.stage.maria.receipts.entries.filter((each) => each.id === id).map(({ type }) => type))
  return types.has('read') ? 'read' : types.has('delivered') ? 'delivered' : 'sent'
}

function conversationsOf({ stage }: Show): Conversation[] {
  const { see } = stage.world.helpdesk
  const contacts = new Map(see.contacts().map((each) => [each.id, each]))
  return see.conversations().map(({ id, contactId }) => {
    const messages = see.messages(id)
    const contact = contacts.get(contactId)
    const chat = chatOf(contact?.identifier ?? '')
    const contents = new Map(messages.map((each) => [each.id, each.content ?? '']))
    return {
      id,
      name: contact?.name ?? '',
      chat,
      bubbles: messages
        .filter(({ messageType }) => messageType !== 'activity')
        .slice(-shownBubbles)
        .map((each) => helpdeskBubble(each, chat, contents)),
    }
  })
}

function helpdeskBubble(message: SeenMessage, chat: Chat, contents: ReadonlyMap<number, string>): Bubble {
  const { id, content, messageType, contentAttributes, status, sender, files } = message
  const quoted = contentAttributes['in_reply_to']
  const [file] = files
  const isMine = messageType === 'outgoing'
  return {
    ...{ id: String(id), chat, isMine, author: sender?.name ?? null, text: content ?? '', at: message.createdAt },
    ...{ reaction: null, isEdited: false, isNote: message.private },
    file: file && isShown(file.fileType) ? { kind: file.fileType, url: `/files/helpdesk/${id}` } : null,
    quote: typeof quoted === 'number' ? (contents.get(quoted) ?? '') : null,
    tick: isMine && !message.private ? status : null,
    isDeleted: contentAttributes['deleted'] === true,
  }
}

function isShown(kind: string): kind is FileKind {
  return kind === 'image' || kind === 'audio'
}
