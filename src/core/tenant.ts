// A tenant: the helpdesk that the instances with its owner tag talk to.

export type Tenant = {
  ownerTag: string
  baseUrl: string
  accountId: number
  inboxId: number
  createdAt: number
  updatedAt: number
}

export type TenantSecrets = { apiToken: string; webhookSecret: string | null }

/** What a caller sets; the store adds the times. */
export type TenantSettings = Pick<Tenant, 'baseUrl' | 'accountId' | 'inboxId'> & TenantSecrets

/** 1 to 128 characters, none of them a control, format, surrogate or unassigned one. */
export const ownerTagPattern = '^[^\\p{C}]{1,128}$'
