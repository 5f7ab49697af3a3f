// Turns a direct message into its parts. The text goes out as the program wrote it: it is no Markdown, and no agent signs it.

import type { Downstream } from '../../../core/downstream.ts'
import type { InstanceName, Jid } from '../../../core/ids.ts'
import type { NetworkSession } from '../../../core/network.ts'
import type { QuotedMessage } from '../../../core/network/outgoing-content.ts'
import type { DirectContent, DirectPayload } from '../../../core/outbox.ts'
import type { MessageMapStore } from '../../../storage/stores/messages/message-map-store.ts'
import { fetchAttachment } from './attachment-fetcher.ts'
import { plain, withMentions } from './message-composer.ts'
import type { MessageDraft, PartContent } from './message-composer.ts'
import { quoteById } from './quoted-message.ts'
import type { Transcode } from './voice-note.ts'

type Deps = {
  map: Pick<MessageMapStore, 'findByNetworkId' | 'contentOf'>
  downstream: Pick<Downstream, 'download'>
  transcode: Transcode
}

type DraftTarget = { instance: InstanceName; address: Jid }
type Session = Pick<NetworkSession, 'groupInfo'>
type FileContent = Extract<DirectContent, { type: 'file' }>

export class DirectComposer {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async draft({ content, quote: id }: DirectPayload, target: DraftTarget, session: Session): Promise<MessageDraft> {
    const quote = id === null ? null : await quoteById(this.#deps.map, target.instance, id)
    if (content.type === 'file') return this.#file(content, quote, target, session)
    const part = content.type === 'text' ? await textPart(content.text, quote, target, session) : placed(content, quote)
    return { plan: ['text'], contentOf: () => Promise.resolve(part) }
  }

  /** A recording has no caption. Its text becomes a part of its own. */
  async #file(
    { url, caption: written }: FileContent,
    quote: QuotedMessage | null,
    { address }: DraftTarget,
    session: Session,
  ): Promise<MessageDraft> {
    const { text, mentions } = await withMentions(written ?? '', address, session)
    return {
      plan: [0],
      contentOf: async (of, signal) => {
        if (of === 'text') return plain({ type: 'text', text, mentions, quote: null }, text)
        const attachment = { url, mimeType: null, fileName: null, size: null }
        const fetched = await fetchAttachment(this.#deps, null, attachment, signal)
        const { file } = fetched
        const isRecording = file.kind === 'audio' || file.kind === 'voice'
        const caption = isRecording || text === '' ? null : text
        return {
          content: { type: 'file', file, caption, mentions, quote },
          text: caption ?? file.fileName,
          leftOver: isRecording && text !== '',
          [Symbol.asyncDispose]: () => fetched[Symbol.asyncDispose](),
        }
      },
    }
  }
}

async function textPart(
  written: string,
  quote: QuotedMessage | null,
  { address }: DraftTarget,
  session: Session,
): Promise<PartContent> {
  const { text, mentions } = await withMentions(written, address, session)
  return plain({ type: 'text', text, mentions, quote }, text)
}

function placed(
  content: Extract<DirectContent, { type: 'location' | 'contact' }>,
  quote: QuotedMessage | null,
): PartContent {
  if (content.type === 'contact') return plain({ ...content, quote }, content.name)
  const { name, address, latitude, longitude } = content
  return plain({ ...content, quote }, name ?? address ?? `${latitude}, ${longitude}`)
}
