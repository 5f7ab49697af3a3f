// The audit log names who asked: the dashboard for a person who is signed in there, api for a caller with the token.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import sharp from 'sharp'
import type { AuditAction, Caller } from '../../../src/core/audit.ts'
import { DashboardVisitor } from '../../harness/dashboard-visitor.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { fillChat } from '../../harness/other-bridges.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import { ScriptedRunner } from '../../jobs/harness/scripted-runner.ts'

/** Who causes an entry. A new action has to be added here; if a caller causes it, the steps below must contain it. */
const causes: Record<AuditAction, 'caller' | 'system'> = {
  'instance.create': 'caller',
  'instance.patch': 'caller',
  'instance.delete': 'caller',
  'instance.paired': 'system',
  'instance.inbox': 'caller',
  'instance.adopt': 'caller',
  'instance.logout': 'caller',
  'instance.logout_told': 'system',
  'instance.logout_expired': 'system',
  'group.create': 'caller',
  'group.name': 'caller',
  'group.topic': 'caller',
  'group.locked': 'caller',
  'group.announce': 'caller',
  'group.participants': 'caller',
  'group.leave': 'caller',
  'group.invite': 'caller',
  'group.picture': 'caller',
  'group.requests': 'caller',
  'history.import': 'caller',
  'contact.merge': 'caller',
  'contacts.repair': 'caller',
  'contacts.import': 'caller',
  'job.cancel': 'caller',
  'tenant.upsert': 'caller',
  'tenant.patch': 'caller',
  'tenant.delete': 'caller',
  'outbox.enqueue': 'system',
  'outbox.expire': 'system',
  'outbox.failed': 'system',
  'backend.boot': 'system',
  'backend.restored': 'system',
  'backup.make': 'caller',
}

type Send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<unknown>

class Stage {
  readonly world: World
  /** Sends a request that must succeed, and returns the body of the answer. */
  readonly send: Send

  constructor(world: World, send: Send) {
    this.world = world
    this.send = send
  }

  static async open(actor: Caller, engine: 'sqlite' | 'postgres'): Promise<Stage> {
    const environment = { SERVICE_HISTORY_IMPORT_ENABLED: 'true', SERVICE_PUBLIC_URL: 'http://bridge.example' }
    // The import of history does not end by itself, so that it can be cancelled.
    const world = await World.open({ engine, environment, importRunner: new ScriptedRunner(), accounts: 2 })
    const visitor = actor === 'dashboard' ? await DashboardVisitor.signIn(world.service.url) : world.service
    return new Stage(world, async (method, path, body, headers = {}) => {
      const answer = await visitor.request(method, path, { headers, ...(body !== undefined && { body }) })
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
      return answer.body
    })
  }

  async tenants(): Promise<void> {
    const body = { downstream_base_url: 'https://desk.example', downstream_api_token: 't' }
    await this.send('PUT', '/api/tenants/acme', body)
    await this.send('PATCH', '/api/tenants/acme', { downstream_inbox_id: 2 })
    await this.send('DELETE', '/api/tenants/acme')
  }

  async groups(): Promise<void> {
    const { network, phone } = this.world
    const [bob, eve] = ['5511888880001', '5511888880002'].map((each) => network.person({ phone: each }))
    assert.ok(bob && eve)
    const at = '/api/instances/n0/groups'
    await this.send('POST', at, { name: 'Crew', participants: [bob.user.phone] })
    const group = network.group('Team', phone, [bob])
    group.setApproval(phone.user, true)
    group.join(eve.user)
    const changes = {
      name: { name: 'Team B' },
      topic: { topic: 'What we do' },
      locked: { locked: true },
      announce: { announce: true },
      participants: { action: 'promote', jids: [bob.user.phone] },
      requests: { action: 'approve', jids: [eve.user.phone] },
    }
    for (const [path, body] of Object.entries(changes)) await this.send('POST', `${at}/${group.jid}/${path}`, body)
    await this.send('DELETE', `${at}/${group.jid}/invite`)
    const { body, type } = await pictureForm()
    await this.send('POST', `${at}/${group.jid}/picture`, body, { 'content-type': type })
    await this.send('DELETE', `${at}/${group.jid}`)
  }

  async jobs(): Promise<void> {
    const at = '/api/instances/n0'
    const history = await this.send('POST', `${at}/history/import-all-async`)
    await this.send('DELETE', `/api/jobs/${idOf(history)}`)
    await this.#ended(await this.send('POST', `${at}/contacts/import`, {}))
    await this.#ended(await this.send('POST', `${at}/adopt`, { from: 'evolution' }))
    const maria = this.world.network.person({ phone: '5511988887777', pushName: 'Maria' })
    await this.world.arrived(maria.text(this.world.phone, 'hello'))
    await this.world.drained()
    fillChat(this.world.helpdesk, 'evolution', { phone: '551188887777', name: 'Maria' })
    await this.#ended(await this.send('POST', `${at}/contacts/repair`, { dry_run: false }))
  }

  async instances(): Promise<void> {
    const at = '/api/instances'
    await this.send('POST', at, { name: 'new' })
    await this.send('POST', `${at}/bulk`, { names: ['bulk-1'] })
    await this.send('POST', at, { name: 'new', inbox_id: 1 })
    await this.send('PATCH', `${at}/new`, { spamguard_enabled: true })
    await this.send('POST', `${at}/n0/inbox`, { inbox_id: 1, force: true })
    await this.send('POST', at, { name: 'n0', inbox: true, inbox_id: 1 })
    await this.send('POST', `${at}/n0/logout`)
    await this.send('DELETE', `${at}/n1?logout=true`)
    await this.send('DELETE', `${at}/new`)
  }

  async #ended(job: unknown): Promise<void> {
    const holds = async () => {
      const { status } = (await this.send('GET', `/api/jobs/${idOf(job)}`)) as { status: string }
      return status === 'completed'
    }
    await waitUntil('the job has completed', holds)
  }

  /** The actors of each action that a caller causes. */
  async actors(): Promise<Record<string, string[]>> {
    const { entries } = (await this.send('GET', '/api/audit?limit=500')) as { entries: Entry[] }
    const byAction = Map.groupBy(entries, ({ action }) => action)
    const asked = [...byAction].filter(([action]) => causes[action] === 'caller')
    return Object.fromEntries(asked.map(([action, of]) => [action, [...new Set(of.map(({ actor }) => actor))]]))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.world[Symbol.asyncDispose]()
  }
}

type Entry = { action: AuditAction; actor: string }

const idOf = (job: unknown) => (job as { job_id: string }).job_id

async function pictureForm(): Promise<{ body: Uint8Array; type: string }> {
  const form = new FormData()
  const jpeg = await sharp({ create: { width: 200, height: 200, channels: 3, background: 'teal' } })
    .jpeg()
    .toBuffer()
  form.set('picture', new File([new Uint8Array(jpeg)], 'picture.jpg'))
  const encoded = new Response(form)
  return { body: new Uint8Array(await encoded.arrayBuffer()), type: encoded.headers.get('content-type') ?? '' }
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`every change that the audit log names, on ${engine}`, { concurrency: false }, () => {
    for (const actor of ['api', 'dashboard'] as const) {
      test(`has the actor ${actor} when ${actor === 'api' ? 'a caller has the token' : 'the cookie lets it in'}`, async () => {
        await using stage = await Stage.open(actor, engine)
        await stage.tenants()
        await stage.groups()
        await stage.jobs()
        await stage.instances()
        // The service makes no backup of PostgreSQL.
        if (engine === 'sqlite') await stage.send('POST', '/api/backup')
        const callers = Object.keys(causes).filter((action) => causes[action as AuditAction] === 'caller')
        const expected = callers.filter((action) => engine === 'sqlite' || action !== 'backup.make')
        assert.deepEqual(
          Object.entries(await stage.actors()).toSorted(),
          expected.map((action) => [action, [actor]]).toSorted(),
        )
      })
    }
  })
}
