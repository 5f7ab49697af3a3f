// An outbound bed whose process is the owner of the accounts, and a node beside it that stands in for the owner.

import type { BedProcess } from './bed-process.ts'
import type { Answer, Callback } from './agent-desk.ts'
import { refusalOf } from './desk-facts.ts'
import { OutboundBed } from './outbound-bed.ts'

type Posting = { instance?: string; headers?: Record<string, string>; mayBeStored?: boolean; waitedMs?: number }

export class StandInBed {
  readonly bed: OutboundBed
  readonly beside: BedProcess
  /** The instances of which the owner was told that it has new rows. */
  readonly told: string[] = []

  private constructor(bed: OutboundBed, beside: BedProcess) {
    this.bed = bed
    this.beside = beside
    beside.view.tellOwner = (instance) => void this.told.push(instance)
  }

  static async open(options: Parameters<typeof OutboundBed.open>[0] = {}): Promise<StandInBed> {
    const bed = await OutboundBed.open({ engine: 'postgres', ...options })
    return new StandInBed(bed, await bed.startBeside())
  }

  /** The node beside the owner gets the callback, and the owner does not answer. */
  async post(
    callback: Callback,
    { instance = 'n0', headers = {}, mayBeStored = false, waitedMs = 0 }: Posting = {},
  ): Promise<Answer> {
    const raw = Buffer.from(JSON.stringify(callback))
    try {
      return await this.beside.outbound.standIn.store({ instance, headers, raw, mayBeStored, waitedMs })
    } catch (error) {
      return refusalOf(error)
    }
  }

  /** The owner hears what the other node tells it. */
  hear(): Promise<void> {
    return this.bed.process.outbound.lookAgain('n0')
  }

  /** The outbox in the order of its rows. */
  async rows(): Promise<{ message: number | null; status: string }[]> {
    const { database } = this.bed
    const query = database.query.selectFrom('outbox').select(['message_id as message', 'status']).orderBy('id')
    return database.read(query)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.beside[Symbol.asyncDispose]()
    await this.bed[Symbol.asyncDispose]()
  }
}
