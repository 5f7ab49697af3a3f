// Listens to the history as the service does, and keeps what it hears.

import { EventLog } from '../../../../sim/event-log.ts'
import type { HistoryReception, PastCause, PastChat } from '../../../../src/core/history/past-events.ts'
import type { NetworkEvent } from '../../../../src/core/message.ts'
import type { PersonPair, Reception } from '../../../../src/core/network/reception.ts'

type Piece = { instance: string; cause: PastCause; chats: readonly PastChat[] }

export class PastLog {
  readonly pieces = new EventLog<Piece>('the pieces of the history', ({ chats }) => JSON.stringify(chats))
  readonly progress = new EventLog<{ isLast: boolean }>('the progress of the history', (one) => JSON.stringify(one))
  readonly passedOver: string[] = []
  readonly pairs: PersonPair[] = []
  /** Events before this time are left out. Null: nothing is kept. */
  since: number | null = 0
  /** What storing a piece waits for. */
  storing: (piece: Piece) => Promise<void> = () => Promise.resolve()

  readonly reception: Partial<Reception & HistoryReception> = {
    keepsSince: () => this.since,
    onPastEvents: async (instance, cause, chats) => {
      const piece = { instance, cause, chats }
      await this.storing(piece)
      this.pieces.add(piece)
    },
    onPastProgress: (_, progress) => {
      this.progress.add(progress)
    },
    onPassedOver: (_, kind) => {
      this.passedOver.push(kind)
    },
    onPairs: (_, pairs) => {
      this.pairs.push(...pairs)
    },
  }

  /** Everything that came, in the order in which it came. */
  get events(): NetworkEvent[] {
    return this.pieces.entries.flatMap(({ chats }) => chats.flatMap(({ events }) => events.map(({ event }) => event)))
  }

  get ids(): string[] {
    return this.events.map(({ id }) => id)
  }

  async waitFor(id: string): Promise<NetworkEvent> {
    await this.pieces.waitFor(`the piece with ${id}`, ({ chats }) =>
      chats.some(({ events }) => events.some(({ event }) => event.id === id)),
    )
    const event = this.events.find((one) => one.id === id)
    if (!event) throw new Error(`${id} did not come`)
    return event
  }
}
