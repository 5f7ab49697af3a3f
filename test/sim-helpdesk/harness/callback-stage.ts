// A helpdesk with the people and the customer of the recordings, and what its webhooks say.

import assert from 'node:assert/strict'
import { calm } from '../../../sim/helpdesk/settings.ts'
import type { SimHelpdeskOptions } from '../../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'
import { DeskClient } from './desk-client.ts'
import type { Json } from './desk-client.ts'
import { differences } from './compare-callback.ts'
import { bodyOf, recordingOf } from './recordings.ts'
import type { Fields, RecordingName } from './recordings.ts'
import { WebhookCatcher } from './webhook-catcher.ts'

export class CallbackStage {
  readonly desk: SimHelpdesk
  readonly bridge: WebhookCatcher
  /** The bridge's own token, of an administrator. */
  readonly admin: DeskClient
  readonly agent: DeskClient

  private constructor(desk: SimHelpdesk, bridge: WebhookCatcher) {
    this.desk = desk
    this.bridge = bridge
    this.admin = new DeskClient(desk)
    this.agent = new DeskClient(desk, desk.world.addAgent({ name: 'Alan Agent' }).token)
  }

  /** Retry emits two callbacks here, as in the recording. */
  static async open(options: SimHelpdeskOptions = {}): Promise<CallbackStage> {
    const quirks = { ...calm, retryTwice: 1 }
    const stage = new CallbackStage(await SimHelpdesk.start({ quirks, ...options }), await WebhookCatcher.start())
    await stage.admin.patch('/inboxes/1', { name: 'contract-callbacks', channel: { webhook_url: stage.bridge.url } })
    return stage
  }

  /** A contact and a conversation; the id of the conversation. */
  async openChat(digits: string, name: string, extra: object = {}): Promise<number> {
    const created = await this.admin.post('/contacts', {
      name,
      phone_number: `+${digits}`,
      identifier: `${digits}@s.whatsapp.net`,
      inbox_id: 1,
      source_id: digits,
    })
    const { contact } = created.body['payload'] as { contact: Json }
    const body = { inbox_id: 1, contact_id: contact.id, source_id: digits, ...extra }
    return (await this.admin.post('/conversations', body)).body.id
  }

  async write(by: DeskClient, chat: number, body: object): Promise<number> {
    const answer = await by.post(`/conversations/${chat}/messages`, body)
    assert.equal(answer.status, 200, answer.text)
    return answer.body.id
  }

  /** The customer writes; the callbacks that follow. */
  say(chat: number, content: string, extra: object = {}): Promise<Fields[]> {
    return this.callbacksOf(() => this.write(this.admin, chat, { content, message_type: 'incoming', ...extra }))
  }

  /** Does the work and returns the callbacks that follow, in the order in which they came. */
  async callbacksOf(work: () => Promise<unknown>): Promise<Fields[]> {
    await this.desk.settled()
    this.bridge.caught.clear()
    await work()
    await this.desk.settled()
    return this.bridge.caught.entries.map(({ body }) => body)
  }

  /** One of the callbacks is the recorded one. `except` names paths that depend on the moment. */
  assertRecorded(
    [file, what]: readonly [RecordingName, string],
    callbacks: readonly Fields[],
    except: readonly string[] = [],
  ): void {
    const wanted = bodyOf(recordingOf(file, what))
    assert.ok(wanted, `"${what}" has no body`)
    const candidates = callbacks.filter(({ event, private: isPrivate = false, message_type: type }) => {
      const { private: wantedPrivate = false, message_type: wantedType } = wanted
      return event === wanted.event && type === wantedType && isPrivate === wantedPrivate
    })
    assert.ok(candidates.length > 0, `no ${wanted.event} came for "${what}"`)
    const found = candidates.map((each) => differences(wanted, each, { except }))
    const best = found.toSorted((a, b) => a.length - b.length)[0]
    assert.deepEqual(best, [], what)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.desk[Symbol.asyncDispose]()
    await this.bridge[Symbol.asyncDispose]()
  }
}
