// The administrator's side of the helpdesk port: what the set-up and the checks of a helpdesk inbox need.

/** How an account of a helpdesk is reached. */
export type AccountAccess = { baseUrl: string; apiToken: string; accountId: number }

/** A helpdesk inbox as the owner of the token sees it. */
export type InboxSettings = {
  id: number
  name: string
  /** The service works with API inboxes only. */
  isApi: boolean
  /** Empty when none is set. The helpdesk stores any text here. */
  webhookUrl: string
  /** Signs the callbacks. Null before Chatwoot 4.13, and for agents. */
  secret: string | null
  /** A contact gets one conversation for ever instead of a new one after each resolve. */
  isLockedToSingleConversation: boolean
}

export type NewInbox = Pick<InboxSettings, 'name' | 'webhookUrl' | 'isLockedToSingleConversation'>
export type InboxChanges = Partial<Pick<InboxSettings, 'webhookUrl' | 'isLockedToSingleConversation'>>

/** `aheadMs` is how far the clock of the helpdesk is ahead of ours, from its Date header; null when it sends none. */
export type Installation = { version: string; aheadMs: number | null }

/** One account of a helpdesk. Every call has a deadline and rejects with a DownstreamError. */
export type HelpdeskAccount = {
  /** Needs no token. */
  installation(): Promise<Installation>
  /** The role of the token's owner in this account, such as `administrator`; null when the owner does not belong to it. */
  role(): Promise<string | null>
  inboxes(): Promise<InboxSettings[]>
  /** Null when the account has no such inbox. */
  findInbox(id: number): Promise<InboxSettings | null>
  createInbox(inbox: NewInbox): Promise<InboxSettings>
  changeInbox(id: number, changes: InboxChanges): Promise<InboxSettings>
  /** The ids of all agents and administrators of the account. */
  agentIds(): Promise<number[]>
  memberIds(inboxId: number): Promise<number[]>
  /** The titles of the labels that agents see and can set. */
  labels(): Promise<string[]>
  /** False when the token's owner may not create labels, or when the helpdesk takes no such title. */
  createLabel(title: string): Promise<boolean>
  /** Adds members; those who are members already stay. */
  addMembers(inboxId: number, userIds: readonly number[]): Promise<void>
}
