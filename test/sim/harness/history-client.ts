// A newly paired client that collects the pieces of history that the phone sends, and reads them with the library's cipher.
import { downloadContentFromMessage, proto } from 'baileys'
import { buffer } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { inflateSync } from 'node:zlib'
import { EventLog } from '../../../sim/event-log.ts'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { SimNetwork } from '../../../sim/network/sim-network.ts'
import { memoryAuth } from './memory-auth.ts'
import { TestClient } from './test-client.ts'

export type Notice = proto.Message.IHistorySyncNotification
type Parts = { network: SimNetwork; client: TestClient; notices: EventLog<Notice> }

const { HistorySyncType } = proto.Message

export class HistoryClient {
  readonly client: TestClient
  readonly notices: EventLog<Notice>
  readonly #network: SimNetwork

  private constructor({ network, client, notices }: Parts) {
    this.#network = network
    this.client = client
    this.notices = notices
  }

  /** The library itself does not act on the history. */
  static async paired(network: SimNetwork, phone: SimPhone, { syncFullHistory = false } = {}): Promise<HistoryClient> {
    setDefaultCACertificates([...getCACertificates('default'), network.authority.pem])
    const notices = new EventLog<Notice>('pieces of history', (one) => `${one.syncType ?? '?'} ${one.progress ?? '?'}`)
    const shouldSyncHistoryMessage = (notice: Notice): boolean => {
      // The library also asks once before a piece has come.
      if (notice.progress != null) notices.add(notice)
      return false
    }
    const auth = memoryAuth()
    {
      await using first = new TestClient(network, auth, { syncFullHistory })
      await phone.scan(await first.qr())
      await first.closedWith()
    }
    const client = await TestClient.online(network, auth, { shouldSyncHistoryMessage })
    return new HistoryClient({ network, client, notices })
  }

  /** All pieces up to the last one of the given kind. */
  async until(kind: keyof typeof HistorySyncType): Promise<Notice[]> {
    const isLast = (one: Notice): boolean => one.syncType === HistorySyncType[kind] && one.progress === 100
    const last = await this.notices.waitFor(`the last piece of ${kind}`, isLast)
    return this.notices.entries.slice(0, this.notices.entries.indexOf(last) + 1)
  }

  async read(notice: Notice): Promise<proto.HistorySync> {
    const inline = notice.initialHistBootstrapInlinePayload
    if (inline?.length) return proto.HistorySync.decode(inflateSync(inline))
    const { mediaKey, directPath } = notice
    if (!mediaKey || !directPath) throw new Error('a piece without content and without a file')
    const { host } = this.#network.media
    const stream = await downloadContentFromMessage({ mediaKey, directPath }, 'md-msg-hist', { host })
    return proto.HistorySync.decode(inflateSync(await buffer(stream)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]()
  }
}
