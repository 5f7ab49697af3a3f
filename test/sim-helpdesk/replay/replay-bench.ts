// A simulated helpdesk with the people of the recordings, a listener for callbacks, and the set-up of rows.

import { calm } from '../../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'
import { DeskClient } from '../harness/desk-client.ts'
import type { Answer } from '../harness/desk-client.ts'
import { WebhookCatcher } from '../harness/webhook-catcher.ts'
import { asObject } from '../harness/recordings.ts'
import type { Fields } from '../harness/recordings.ts'
import { RecordedIds } from './recorded-ids.ts'

export class ReplayBench {
  readonly helpdesk: SimHelpdesk
  readonly catcher: WebhookCatcher
  readonly ids = new RecordedIds()
  readonly admin: DeskClient
  readonly tokens: Record<string, string>
  /** Values that stand in angle brackets in the recordings and that an earlier answer of the simulator holds. */
  readonly named: Record<string, string> = {}
  /** Every callback since the start. */
  readonly seen: Fields[] = []

  private constructor(helpdesk: SimHelpdesk, catcher: WebhookCatcher) {
    this.helpdesk = helpdesk
    this.catcher = catcher
    catcher.reply = ({ body }, response) => {
      this.seen.push(body)
      response.end('{}')
    }
    const { world } = helpdesk
    const ada = world.addAgent({ name: 'Ada Admin', role: 'administrator', email: 'admin@acme.test', inboxIds: [] })
    const alan = world.addAgent({ name: 'Alan Agent', email: 'agent@acme.test', inboxIds: [] })
    this.ids.bind('user', 1, ada.id)
    this.ids.bind('user', 2, alan.id)
    this.tokens = { '<admin token>': ada.token, '<agent token>': alan.token }
    this.admin = new DeskClient(helpdesk, ada.token)
  }

  static async start(): Promise<ReplayBench> {
    const catcher = await WebhookCatcher.start()
    const helpdesk = await SimHelpdesk.start({ quirks: calm, isStrict: false, storage: 'disk' })
    return new ReplayBench(helpdesk, catcher)
  }

  get agent(): DeskClient {
    return new DeskClient(this.helpdesk, this.tokens['<agent token>'])
  }

  /** Creates a helpdesk inbox that sends its callbacks to the listener. */
  async inbox(recorded: number, name: string, extra: Fields = {}): Promise<void> {
    const channel = { type: 'api', webhook_url: this.catcher.url }
    const { body } = await this.must(this.admin.post('/inboxes', { name, channel, ...extra }))
    this.ids.bind('inbox', recorded, body.id)
    this.named['<inbox_identifier>'] = String(body['inbox_identifier'])
  }

  /** Creates a contact with the values that the recordings show. */
  async contact(recorded: number, values: Fields, inbox?: number): Promise<void> {
    const address = inbox === undefined ? {} : { inbox_id: this.ids.actual('inbox', inbox) }
    const { body } = await this.must(this.admin.post('/contacts', { ...values, ...address }))
    this.ids.bind('contact', recorded, Number(asObject(asObject(body['payload'])['contact'])['id']))
  }

  /** Creates a contact of a chat: the phone number is also the source_id. */
  async person(recorded: number, name: string, phone: string, inbox: number, extra: Fields = {}): Promise<void> {
    const values = { name, phone_number: `+${phone}`, identifier: `${phone}@s.whatsapp.net`, source_id: phone }
    await this.contact(recorded, { ...values, ...extra }, inbox)
  }

  async conversation(recorded: number, of: { inbox: number; contact: number; source: string }, extra: Fields = {}) {
    const { body } = await this.must(
      this.admin.post('/conversations', {
        inbox_id: this.ids.actual('inbox', of.inbox),
        contact_id: this.ids.actual('contact', of.contact),
        source_id: of.source,
        ...extra,
      }),
    )
    this.ids.bind('conversation', recorded, body.id)
  }

  async message(recorded: number | undefined, conversation: number, values: object): Promise<Answer> {
    const answer = await this.must(this.admin.send('POST', `${this.chat(conversation)}/messages`, values))
    if (recorded !== undefined) this.ids.bind('message', recorded, answer.body.id)
    return answer
  }

  chat(recorded: number): string {
    return `/conversations/${this.ids.actual('conversation', recorded)}`
  }

  async join(inbox: number): Promise<void> {
    const change = { inbox_id: this.ids.actual('inbox', inbox), user_ids: [this.ids.actual('user', 2)] }
    await this.must(this.admin.post('/inbox_members', change))
  }

  async must(asked: Promise<Answer>): Promise<Answer> {
    const answer = await asked
    if (answer.status >= 300) throw new Error(`a set-up got ${answer.status}: ${answer.text}`)
    return answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.helpdesk[Symbol.asyncDispose]()
    await this.catcher[Symbol.asyncDispose]()
  }
}
