// Asks a helpdesk what the checks need to know. Changes nothing there.

import { DownstreamError } from '../../core/downstream.ts'
import type { HelpdeskAccount, InboxSettings, Installation } from '../../core/helpdesk/helpdesk-account.ts'

/** An answer of the helpdesk, or the failure of the question. */
export type Asked<T> = { answer: T; error?: never } | { error: DownstreamError; answer?: never }

/** `role` and `inbox` are null when the helpdesk did not even tell its version. */
export type HelpdeskFacts = {
  installation: Asked<Installation>
  role: Asked<string | null> | null
  inbox: Asked<InboxSettings | null> | null
}

/** `inboxes` is null when the helpdesk did not even tell its version. */
export type AccountFacts = HelpdeskFacts & { inboxes: Asked<InboxSettings[]> | null }

type Account = Pick<HelpdeskAccount, 'installation' | 'role' | 'findInbox'>

export async function askHelpdesk(account: Account, inboxId: number): Promise<HelpdeskFacts> {
  const installation = await asked(account.installation())
  if (installation.error) return { installation, role: null, inbox: null }
  const [role, inbox] = await Promise.all([asked(account.role()), asked(account.findInbox(inboxId))])
  return { installation, role, inbox }
}

/** The same, and which inboxes the account has. Without an inbox id, the list of the inboxes says whether the account works. */
export async function askAccount(
  account: Account & Pick<HelpdeskAccount, 'inboxes'>,
  inboxId: number,
): Promise<AccountFacts> {
  const installation = await asked(account.installation())
  if (installation.error) return { installation, role: null, inbox: null, inboxes: null }
  const [role, inboxes, found] = await Promise.all([
    asked(account.role()),
    asked(account.inboxes()),
    inboxId > 0 ? asked(account.findInbox(inboxId)) : null,
  ])
  const inbox = found ?? (inboxes.error ? { error: inboxes.error } : { answer: null })
  return { installation, role, inbox, inboxes }
}

async function asked<T>(question: Promise<T>): Promise<Asked<T>> {
  try {
    return { answer: await question }
  } catch (error) {
    if (error instanceof DownstreamError) return { error }
    throw error
  }
}
