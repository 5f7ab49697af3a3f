// The server's request for a passkey: some accounts get it in place of the link. Only a browser on WhatsApp's own site can answer.
import type { SeededRandom } from '../seeded-random.ts'
import { SERVER_JID } from '../wire/jid.ts'
import { stanza, type Stanza } from '../wire/stanza.ts'

const ANSWER_MS = 600_000

export function passkeyRequest(random: SeededRandom): Stanza {
  const options = {
    challenge: random.bytes(32).toString('base64url'),
    timeout: ANSWER_MS,
    rpId: 'whatsapp.com',
    allowCredentials: [],
    userVerification: 'required',
    extensions: { uvm: true },
  }
  const attributes = { from: SERVER_JID, type: 'passkey_prologue_request', id: random.hex(6) }
  const content = stanza('passkey_request_options', {}, Buffer.from(JSON.stringify(options)))
  return stanza('notification', attributes, [content])
}
