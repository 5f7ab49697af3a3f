// One open connection and every signal it gave.

import { EventLog } from '../../../sim/event-log.ts'
import type { Network, NetworkSession, SessionSignal } from '../../../src/core/network.ts'
import type { Closing } from '../../../src/core/network/closing.ts'

type Kind = SessionSignal['kind']

export class Line {
  readonly signals = new EventLog<SessionSignal>('the signals of the session', (one) => JSON.stringify(one))
  session!: NetworkSession

  static async open(network: Network, sessionId: string): Promise<Line> {
    const line = new Line()
    line.session = await network.open({ sessionId, instance: sessionId }, (signal) => {
      line.signals.add(signal)
    })
    return line
  }

  get kinds(): Kind[] {
    return this.signals.entries.map(({ kind }) => kind)
  }

  async signal<K extends Kind>(kind: K, timeoutMs?: number): Promise<Extract<SessionSignal, { kind: K }>> {
    const found = await this.signals.waitFor(`the signal ${kind}`, (one) => one.kind === kind, timeoutMs)
    return found as Extract<SessionSignal, { kind: K }>
  }

  /** The text of the newest QR code. */
  async qr(): Promise<string> {
    await this.signal('qr')
    const codes = this.signals.entries.filter((one) => one.kind === 'qr')
    return codes.at(-1)?.text ?? ''
  }

  async drained(): Promise<void> {
    await this.signal('drained')
  }

  async closing(timeoutMs?: number): Promise<Closing> {
    return (await this.signal('closed', timeoutMs)).closing
  }
}
