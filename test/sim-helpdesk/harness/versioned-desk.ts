// A helpdesk of one version that calls a catcher, and a client of it.

import { calm } from '../../../sim/helpdesk/settings.ts'
import type { SimHelpdeskOptions } from '../../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'
import type { HelpdeskVersion } from '../../../sim/helpdesk/versions.ts'
import { DeskClient } from './desk-client.ts'
import type { Answer } from './desk-client.ts'
import type { WebhookCatcher } from './webhook-catcher.ts'

export class VersionedDesk {
  readonly desk: SimHelpdesk
  readonly client: DeskClient

  private constructor(desk: SimHelpdesk) {
    this.desk = desk
    this.client = new DeskClient(desk)
  }

  /** The catcher forgets what it caught before. */
  static async start(
    bridge: WebhookCatcher,
    version: HelpdeskVersion,
    options: SimHelpdeskOptions = {},
  ): Promise<VersionedDesk> {
    const versioned = new VersionedDesk(await SimHelpdesk.start({ quirks: calm, version, ...options }))
    bridge.caught.clear()
    await versioned.client.patch('/inboxes/1', { channel: { webhook_url: bridge.url } })
    return versioned
  }

  write(chat: number, body: object): Promise<Answer> {
    return this.client.post(`/conversations/${chat}/messages`, body)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.desk[Symbol.asyncDispose]()
  }
}
