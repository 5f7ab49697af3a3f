// The Chatwoot side of the service against the simulated helpdesk, over real HTTP.

import { calm } from '../../../sim/helpdesk/settings.ts'
import type { SimHelpdeskOptions } from '../../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'
import type { Destination, HelpdeskInbox } from '../../../src/core/downstream.ts'
import type { ContactSpec } from '../../../src/core/helpdesk/contact.ts'
import type { NewMessage } from '../../../src/core/helpdesk/message.ts'
import { ChatwootDownstream } from '../../../src/downstream/chatwoot-downstream.ts'
import type { ChatwootOptions } from '../../../src/downstream/chatwoot-downstream.ts'
import { destinationOf } from '../../harness/destination.ts'

type Options = { helpdesk?: SimHelpdeskOptions; downstream?: Partial<ChatwootOptions> }

export class HelpdeskBed {
  readonly helpdesk: SimHelpdesk
  readonly downstream: ChatwootDownstream
  readonly destination: Destination
  readonly inbox: HelpdeskInbox

  private constructor(helpdesk: SimHelpdesk, downstream: ChatwootDownstream) {
    this.helpdesk = helpdesk
    this.downstream = downstream
    this.destination = this.destinationOf()
    this.inbox = downstream.helpdesk(this.destination)
  }

  static async start({ helpdesk = {}, downstream = {} }: Options = {}): Promise<HelpdeskBed> {
    return new HelpdeskBed(
      await SimHelpdesk.start({ seed: 'downstream', quirks: calm, ...helpdesk }),
      createDownstream(downstream),
    )
  }

  destinationOf(changes: Partial<Destination> = {}): Destination {
    return destinationOf(this.helpdesk, changes)
  }

  /** A contact with a conversation; resolves to the id of the latter. */
  async openChat(changes: Partial<ContactSpec> = {}): Promise<number> {
    const contact = await this.inbox.ensureContact(person(changes))
    return (await this.inbox.ensureConversation(contact, 'new')).id
  }

  /** How often the helpdesk was asked for this. */
  asked(method: string, path: RegExp): number {
    return this.helpdesk.requests.filter((each) => each.method === method && path.test(each.path.split('?')[0] ?? ''))
      .length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.downstream[Symbol.asyncDispose]()
    await this.helpdesk[Symbol.asyncDispose]()
  }
}

export function createDownstream(options: Partial<ChatwootOptions> = {}): ChatwootDownstream {
  const standard = { timeoutMs: 5000, egressAllow: ['127.0.0.1'], mediaMaxBytes: 4 * 1024 * 1024 }
  return new ChatwootDownstream({ ...standard, ...options })
}

export function person(changes: Partial<ContactSpec> = {}): ContactSpec {
  return {
    sourceId: '5511988887777',
    formerSourceIds: [],
    identifier: '5511988887777@s.whatsapp.net',
    identifiers: ['5511988887777@s.whatsapp.net'],
    phone: '+5511988887777',
    phones: ['+5511988887777'],
    name: 'Maria',
    ...changes,
  }
}

export function text(content: string, changes: Partial<NewMessage> = {}): NewMessage {
  return {
    type: 'incoming',
    content,
    sourceId: null,
    inReplyTo: null,
    isEcho: false,
    private: false,
    files: [],
    ...changes,
  }
}
