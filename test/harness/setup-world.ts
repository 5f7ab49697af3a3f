// A world as a new operator finds it: a Chatwoot without an inbox, a service that knows its public address, no instance.

import assert from 'node:assert/strict'
import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import { DeskClient } from '../sim-helpdesk/harness/desk-client.ts'
import type { Answer } from './http-request.ts'
import { PublicAddress } from './public-address.ts'
import { owner } from './instance-api.ts'
import { World } from './world.ts'
import type { Running, WorldOptions } from './world.ts'

export type DeskInbox = {
  id: number
  name: string
  webhook_url: string | null
  secret?: string
  lock_to_single_conversation: boolean
}

type Outcome = Record<'inbox_id' | 'members', number> &
  Record<'name' | 'webhook_url' | 'action', string> &
  Record<'shared' | 'secret_stored', boolean>

/** The helpdesk is known, but no inbox and no secret. */
const noInbox = { DOWNSTREAM_INBOX_ID: '0', WEBHOOK_HMAC_SECRET: '' }

export class SetupWorld extends World {
  /** The administrator of the helpdesk. */
  readonly desk: DeskClient
  /** An agent who sees only the inboxes of which she is a member. */
  readonly agent: DeskClient
  readonly #address: PublicAddress

  private constructor(running: Running, address: PublicAddress) {
    super(running)
    const { helpdesk } = running
    this.desk = new DeskClient(helpdesk)
    this.agent = new DeskClient(helpdesk, helpdesk.agent.token)
    this.#address = address
  }

  static override async open(options: Omit<WorldOptions, 'accounts'> = {}): Promise<SetupWorld> {
    await using stack = new AsyncDisposableStack()
    const address = stack.use(await PublicAddress.start())
    const environment = { SERVICE_PUBLIC_URL: address.url, ...noInbox, ...options.environment }
    const running = await World.start({ ...options, environment, accounts: 0 })
    running.owned.use(stack.move())
    address.target = running.service.url
    const world = new SetupWorld(running, address)
    return await world.begin(async () => {
      const { status } = await world.desk.delete('/inboxes/1')
      assert.equal(status, 200)
      await world.helpdesk.settled()
      assert.deepEqual(await world.inboxes(), [])
    })
  }

  override async restartService(environment: Record<string, string> = {}): Promise<void> {
    await super.restartService(environment)
    this.#address.target = this.service.url
  }

  get publicUrl(): string {
    return this.#address.url
  }

  webhookOf(instance: string, base = this.publicUrl): string {
    return `${base}/api/instances/${instance}/webhook`
  }

  /** The answer to a set-up that the test may expect to fail. */
  trySetUp(instance: string, body?: unknown): Promise<Answer> {
    return this.command(`/${instance}/inbox`, body)
  }

  async setUp(instance: string, body?: object): Promise<Outcome> {
    const { status, text, body: outcome } = await this.trySetUp(instance, body)
    assert.equal(status, 200, text)
    return outcome as Outcome
  }

  /** The set-up fails with this code and a sentence like this, and changes nothing. */
  async assertRefused(instance: string, body: unknown, status: number, code: string, sentence: RegExp): Promise<void> {
    const before = await this.#state(instance)
    const answer = await this.trySetUp(instance, body)
    assert.partialDeepStrictEqual([answer.status, answer.body], [status, { error_code: code }], answer.text)
    assert.match((answer.body as { error: string }).error, sentence)
    assert.deepEqual(await this.#state(instance), before, 'nothing is changed')
  }

  async inboxes(): Promise<DeskInbox[]> {
    return (await this.desk.get('/inboxes')).body['payload'] as DeskInbox[]
  }

  async inbox(id: number): Promise<DeskInbox> {
    return (await this.desk.get(`/inboxes/${id}`)).body as unknown as DeskInbox
  }

  async members(inboxId: number): Promise<number[]> {
    const members = (await this.desk.get(`/inbox_members/${inboxId}`)).body['payload'] as { id: number }[]
    return members.map(({ id }) => id)
  }

  /** An operator made this inbox by hand. */
  async makeInbox(webhookUrl: string | null, name = 'By hand'): Promise<DeskInbox> {
    const channel = { type: 'api', ...(webhookUrl !== null && { webhook_url: webhookUrl }) }
    const { status, body, text } = await this.desk.post('/inboxes', { name, channel })
    assert.equal(status, 200, text)
    return body as unknown as DeskInbox
  }

  async inboxIdOf(instance: string): Promise<number> {
    return ((await this.service.get(`/api/instances/${instance}`)).body as { inbox_id: number }).inbox_id
  }

  /** The entries of set-ups in the audit log, newest first. */
  async audited(): Promise<{ action: string; metadata: Record<string, unknown> }[]> {
    const { body } = await this.service.get('/api/audit')
    const { entries } = body as { entries: { action: string; metadata: Record<string, unknown> }[] }
    return entries.filter(({ action }) => action === 'instance.inbox')
  }

  /** Scans the code of an instance that was created. */
  async scan(instance: string): Promise<SimPhone> {
    const phone = this.network.account({ phone: owner })
    await phone.scan(await this.qrText(instance))
    await this.reaches(instance, 'ready')
    return phone
  }

  async #state(instance: string): Promise<unknown> {
    return [await this.inboxes(), await this.inboxIdOf(instance)]
  }
}
