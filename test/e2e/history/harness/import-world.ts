// A world whose jobs are run by a scripted runner, and the requests about them.

import assert from 'node:assert/strict'
import type { ImportParams } from '../../../../src/core/jobs/history-jobs.ts'
import type { Answer } from '../../../harness/http-request.ts'
import { World } from '../../../harness/world.ts'
import type { WorldOptions } from '../../../harness/world.ts'
import { ScriptedRunner } from '../../../jobs/harness/scripted-runner.ts'

export type JobBody = {
  id: string
  type: string
  instance: string
  status: string
  progress: Record<string, number | string | null>
  created_at: string
  started_at: string | null
  ended_at: string | null
  error: string | null
  result: Record<string, number | string> | null
}

export class ImportWorld {
  readonly world: World
  readonly runner: ScriptedRunner

  private constructor(world: World, runner: ScriptedRunner) {
    this.world = world
    this.runner = runner
  }

  static async open({ environment, ...options }: WorldOptions = {}): Promise<ImportWorld> {
    const runner = new ScriptedRunner()
    const settings = { SERVICE_HISTORY_IMPORT_ENABLED: 'true', ...environment }
    return new ImportWorld(await World.open({ ...options, environment: settings, importRunner: runner }), runner)
  }

  /** A message of this person is known, so the phone can be asked for older ones. */
  async hearFrom(phone: string): Promise<void> {
    const person = this.world.network.person({ phone })
    await this.world.arrived(person.text(this.world.phone, 'hello'))
    await this.world.drained()
  }

  importChat(query: string, instance = 'n0'): Promise<Answer> {
    return this.world.command(`/${instance}/history/import?${query}`)
  }

  importAll(query = '', instance = 'n0'): Promise<Answer> {
    return this.world.command(`/${instance}/history/import-all?${query}`)
  }

  /** Returns the id of the job. */
  async start(query = '', instance = 'n0'): Promise<string> {
    const { status, body } = await this.world.command(`/${instance}/history/import-all-async?${query}`)
    assert.equal(status, 202, JSON.stringify(body))
    return (body as { job_id: string }).job_id
  }

  /** What the job that runs was asked for. */
  async paramsOf(instance = 'n0'): Promise<ImportParams> {
    return (await this.runner.waitForRun(instance)).job.params
  }

  async jobs(query = ''): Promise<JobBody[]> {
    return (await this.world.service.get(`/api/jobs${query}`)).body as JobBody[]
  }

  async job(id: string): Promise<JobBody> {
    return (await this.world.service.get(`/api/jobs/${id}`)).body as JobBody
  }

  cancel(id: string): Promise<Answer> {
    return this.world.service.request('DELETE', `/api/jobs/${id}`)
  }

  /** The actions in the audit log that concern the history, oldest first. */
  async audit(): Promise<string[]> {
    const { body } = await this.world.service.get('/api/audit?limit=500')
    const { entries } = body as { entries: { action: string; instance: string }[] }
    const meant = entries.filter(({ action }) => /^(history|job)\./.test(action))
    return meant.map(({ action, instance }) => `${action} ${instance}`).reverse()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.world[Symbol.asyncDispose]()
  }
}
