// The helpdesk of the outbound bed: where it is, the conversation that it begins with, and how the service refuses its callbacks.

import { phoneJid } from '../../../../src/core/address.ts'
import type { Destination } from '../../../../src/core/downstream.ts'
import { BridgeError, statusOfCode } from '../../../../src/core/errors.ts'
import { StorageError } from '../../../../src/storage/engine/statement.ts'
import type { ScriptedHelpdesk } from '../../harness/scripted-helpdesk.ts'
import type { Answer } from './agent-desk.ts'
import type { Customer } from './scripted-network.ts'

/** Where the bed's instances belong. */
const destination: Destination = {
  key: 'http://desk|1|1',
  baseUrl: 'http://desk',
  apiToken: 't',
  accountId: 1,
  inboxId: 1,
}
/** The settings that name it. */
export const settings = {
  DOWNSTREAM_BASE_URL: destination.baseUrl,
  DOWNSTREAM_API_TOKEN: destination.apiToken,
  DOWNSTREAM_ACCOUNT_ID: '1',
  DOWNSTREAM_INBOX_ID: '1',
  // Without a limit nothing waits for the clock.
  SERVICE_DRAIN_RATE: '0',
}

/** Bob's contact and conversation, as an earlier message of his would have made them. */
export async function openConversation(helpdesk: ScriptedHelpdesk, bob: Customer): Promise<number> {
  const inbox = helpdesk.helpdesk(destination)
  const identifier = phoneJid(bob.phone ?? '')
  const contact = await inbox.ensureContact({
    sourceId: bob.phone ?? '',
    formerSourceIds: [],
    identifier,
    identifiers: [identifier],
    phone: `+${bob.phone ?? ''}`,
    phones: [],
    name: bob.name,
  })
  return (await inbox.ensureConversation(contact, 'reopen')).id
}

/** As the HTTP server answers. */
export function refusalOf(error: unknown): Answer {
  const code = error instanceof StorageError ? 'SERVICE_STORAGE_FAILED' : error instanceof BridgeError && error.code
  if (!code) throw error
  return { status: statusOfCode[code], body: { error: (error as Error).message, error_code: code } }
}
