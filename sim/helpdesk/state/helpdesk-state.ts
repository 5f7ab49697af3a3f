// The simulated database: the tables and their indexes.

import type {
  AccountRow,
  AccountWebhookRow,
  AgentBotRow,
  AttachmentRow,
  AutomationRow,
  BlobRow,
  ContactInboxRow,
  ContactRow,
  ConversationRow,
  InboxRow,
  LabelRow,
  MessageRow,
  UserRow,
} from './rows.ts'
import { Table } from './table.ts'

export class HelpdeskState {
  readonly accounts = new Table<AccountRow>()
  readonly users = new Table<UserRow>()
  readonly agentBots = new Table<AgentBotRow>()
  readonly inboxes = new Table<InboxRow>()
  readonly contacts = new Table<ContactRow>()
  readonly contactInboxes = new Table<ContactInboxRow>()
  readonly conversations = new Table<ConversationRow>()
  readonly messages = new Table<MessageRow>()
  readonly attachments = new Table<AttachmentRow>()
  readonly automations = new Table<AutomationRow>()
  readonly labels = new Table<LabelRow>()
  readonly accountWebhooks = new Table<AccountWebhookRow>()
  readonly blobs = new Map<string, BlobRow>()
  readonly #bySourceId = new Map<string, ContactInboxRow>()
  readonly #byDisplayId = new Map<string, ConversationRow>()
  readonly #byIdentity = new Map<string, Set<ContactRow>>()

  contactInboxBySource(inbox: InboxRow, sourceId: string): ContactInboxRow | undefined {
    return this.#bySourceId.get(key(inbox.id, sourceId))
  }

  conversationByDisplayId(account: AccountRow, displayId: number): ConversationRow | undefined {
    return this.#byDisplayId.get(key(account.id, displayId))
  }

  /** The database has no unique index on phone numbers, so there may be several contacts. */
  contactsWith(account: AccountRow, field: 'email' | 'phoneNumber' | 'identifier', value: string): ContactRow[] {
    return [...(this.#byIdentity.get(key(account.id, field, value)) ?? [])]
  }

  indexContact(contact: ContactRow): void {
    for (const at of identityKeys(contact)) {
      const known = this.#byIdentity.get(at)
      if (known) known.add(contact)
      else this.#byIdentity.set(at, new Set([contact]))
    }
  }

  /** Call this before the values change. */
  unindexContact(contact: ContactRow): void {
    for (const at of identityKeys(contact)) this.#byIdentity.get(at)?.delete(contact)
  }

  addContactInbox(row: ContactInboxRow): void {
    this.#bySourceId.set(key(row.inbox.id, row.sourceId), row)
    row.contact.contactInboxes.push(row)
  }

  addConversation(row: ConversationRow): void {
    this.#byDisplayId.set(key(row.account.id, row.displayId), row)
    row.contactInbox.conversations.push(row)
  }

  removeConversation(row: ConversationRow): void {
    this.#byDisplayId.delete(key(row.account.id, row.displayId))
    row.contactInbox.conversations = row.contactInbox.conversations.filter((one) => one !== row)
    for (const message of row.messages) this.messages.delete(message)
    this.conversations.delete(row)
  }

  removeContactInbox(row: ContactInboxRow): void {
    for (const conversation of row.conversations) this.removeConversation(conversation)
    this.#bySourceId.delete(key(row.inbox.id, row.sourceId))
    row.contact.contactInboxes = row.contact.contactInboxes.filter((one) => one !== row)
    this.contactInboxes.delete(row)
  }

  removeContact(row: ContactRow): void {
    for (const contactInbox of row.contactInboxes) this.removeContactInbox(contactInbox)
    this.unindexContact(row)
    this.contacts.delete(row)
  }

  removeInbox(row: InboxRow): void {
    for (const one of this.contactInboxes.all()) if (one.inbox === row) this.removeContactInbox(one)
    this.inboxes.delete(row)
  }
}

function identityKeys(contact: ContactRow): string[] {
  const fields = ['email', 'phoneNumber', 'identifier'] as const
  return fields.flatMap((field) => {
    const value = contact[field]
    return value === null ? [] : [key(contact.account.id, field, value)]
  })
}

function key(...parts: (string | number)[]): string {
  return parts.join('\u0000')
}
