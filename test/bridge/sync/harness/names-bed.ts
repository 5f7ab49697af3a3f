// The parts that bring names to a scripted helpdesk, beside the inbound bridge of a BridgeBed.

import assert from 'node:assert/strict'
import { createNames } from '../../../../src/app/sync/create-names.ts'
import { loadConfig } from '../../../../src/config/config.ts'
import type { HeaderChange, HelpdeskDatabase } from '../../../../src/core/helpdesk/helpdesk-database.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import { BridgeBed, desk } from '../../inbound/harness/bridge-bed.ts'

type Names = ReturnType<typeof createNames>

export class NamesBed {
  readonly bed: BridgeBed
  /** The changes that were asked of the database of the helpdesk. */
  readonly changes: HeaderChange[] = []
  readonly names: Names

  private constructor(bed: BridgeBed, environment: Record<string, string>) {
    this.bed = bed
    const { clock, logs, database, metrics, set, helpdesk } = bed
    const helpdeskDatabase: Pick<HelpdeskDatabase, 'serves' | 'rewriteHeaders'> = {
      serves: () => true,
      rewriteHeaders: (_, changes) => {
        this.changes.push(...changes)
        return Promise.resolve({ current: changes.map(({ messageId }) => messageId), changed: changes.length })
      },
    }
    const { people, conversations, contexts, contactNames, headerHistory } = set
    this.names = createNames({
      config: loadConfig({ DATABASE_URL: 'file:./x.db', ...environment }),
      settingsOf: bed.settingsOf,
      ...{ clock, log: logs.log, database, metrics, people, conversations, contexts, contactNames, headerHistory },
      helpdeskDatabase,
      targetOf: (instance) => Promise.resolve({ instance, destination: desk, helpdesk: helpdesk.helpdesk(desk) }),
    })
  }

  static async open(environment: Record<string, string> = {}): Promise<NamesBed> {
    return new NamesBed(await BridgeBed.open({ environment }), environment)
  }

  contactNames(): string[] {
    return this.bed.helpdesk.contacts.map(({ name }) => name)
  }

  /** Waits until that many names are counted, and compares the results. */
  async counted(results: Record<string, number>): Promise<void> {
    const total = (counts: Record<string, number>) => Object.values(counts).reduce((sum, each) => sum + each, 0)
    let seen: Record<string, number> = {}
    const look = async () => {
      const { values } = await this.bed.metrics.realtimeEvents.get()
      const own = values.filter(({ labels }) => labels.feature === 'retroactive_name')
      seen = Object.fromEntries(own.map(({ labels, value }) => [String(labels.result), value]))
      return total(seen) >= total(results)
    }
    await waitUntil('the names are counted', look, { instead: () => seen })
    assert.deepEqual(seen, results)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.names.sync[Symbol.dispose]()
    await this.bed[Symbol.asyncDispose]()
  }
}
