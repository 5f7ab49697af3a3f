// Posts notices to the conversation of an instance's operations contact, tries again, and removes them.

import { DownstreamError } from '../core/downstream.ts'
import type { HelpdeskInbox } from '../core/downstream.ts'
import type { UploadFile } from '../core/helpdesk/message.ts'
import type { InstanceName } from '../core/ids.ts'
import { operationsContactOf } from '../core/helpdesk/operations-contact.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'

export type Notice = {
  instance: InstanceName
  contactName: string
  content: string
  files: readonly UploadFile[]
  /** Identifies the notice, so that it is not posted twice. */
  sourceId: string
  /** Asked before every attempt: whether the notice is still true. */
  isCurrent: () => boolean
}

export type Posted = { conversationId: number; messageId: number }

const pausesMs = [5000, 30_000, 120_000]

export async function postNotice(
  inbox: HelpdeskInbox,
  notice: Notice,
  clock: Clock,
  stop: AbortSignal,
): Promise<Posted | undefined> {
  for (let attempt = 0; notice.isCurrent() && !stop.aborted; attempt++) {
    try {
      return await postOnce(inbox, notice, attempt > 0)
    } catch (error) {
      const pause = pausesMs[attempt]
      const isLasting = error instanceof DownstreamError && error.failure === 'permanent'
      if (isLasting || pause === undefined) throw error
      await sleep(clock, pause, stop)
    }
  }
  return undefined
}

async function postOnce(inbox: HelpdeskInbox, notice: Notice, isRepeated: boolean): Promise<Posted> {
  const { content, files, sourceId } = notice
  const { id: conversationId } = await conversationOf(inbox, notice)
  const before = isRepeated ? await inbox.findPosted(conversationId, sourceId, 0) : null
  const message = { type: 'incoming', inReplyTo: null, isEcho: false, private: false } as const
  const { id } = before ?? (await inbox.post(conversationId, { ...message, content, files, sourceId }))
  return { conversationId, messageId: id }
}

/** A message that is gone already is no failure: agents or an earlier process may have removed it. */
export async function takeBack(inbox: HelpdeskInbox, { conversationId, messageId }: Posted): Promise<void> {
  try {
    await inbox.deleteMessage(conversationId, messageId)
  } catch (error) {
    if (!(error instanceof DownstreamError && error.failure === 'gone')) throw error
  }
}

/** The conversation of the operations contact, and the address of the contact in the helpdesk inbox. */
export async function conversationOf(
  inbox: HelpdeskInbox,
  { instance, contactName }: Pick<Notice, 'instance' | 'contactName'>,
): Promise<{ id: number; sourceId: string }> {
  const name = operationsContactOf(instance)
  const spec = {
    ...{ sourceId: name, formerSourceIds: [], identifier: name, identifiers: [name], phone: null, phones: [] },
    name: contactName,
  }
  // The contact is there since the first notice.
  const contact = await inbox.ensureContact(spec, { isKnown: true })
  const { id } = await inbox.ensureConversation(contact, 'reopen')
  return { id, sourceId: contact.sourceId }
}
