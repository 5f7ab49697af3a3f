// A network for tests of accounts that does nothing by itself: the test says what the network says.

import assert from 'node:assert/strict'
import type {
  AccountNetwork,
  NetworkSession,
  SessionName,
  SessionSignal,
  StoredSession,
} from '../../src/core/network.ts'
import type { CloseCause } from '../../src/core/network/closing.ts'

export const jid = '5511999990001@s.whatsapp.net'
export const paired: SessionSignal = { kind: 'paired', jid }
export const authenticated: SessionSignal = { kind: 'authenticated', jid }
export const code: SessionSignal = { kind: 'qr', text: 'code' }

export function closed(cause: CloseCause): SessionSignal {
  return { kind: 'closed', closing: { cause, code: null, reason: cause } }
}

type Opened = { sessionId: string; historyDays: number | null; isOpen: boolean; say: (signal: SessionSignal) => void }

export class ScriptedNetwork implements AccountNetwork {
  readonly opened: Opened[] = []
  readonly forgotten: string[] = []
  /** The sessions whose credentials are stored. */
  readonly stored = new Map<string, string>()
  isDeaf = false
  codeExpiresAt = Infinity
  /** Opening waits for this. */
  storage: Promise<unknown> = Promise.resolve()
  /** Closing waits for this. */
  closing: Promise<unknown> = Promise.resolve()

  get last(): Opened {
    const last = this.opened.at(-1)
    assert.ok(last, 'nothing was opened')
    return last
  }

  async open(name: SessionName, onSignal: (signal: SessionSignal) => void): Promise<NetworkSession> {
    const { sessionId, historyDays = null } = name
    await this.storage
    const opened: Opened = {
      sessionId,
      historyDays,
      isOpen: true,
      say: (signal) => {
        if (opened.isOpen) onSignal(signal)
      },
    }
    this.opened.push(opened)
    return {
      probe: () => (this.isDeaf ? Promise.reject(new Error('no answer')) : Promise.resolve()),
      requestPairingCode: () =>
        opened.isOpen
          ? Promise.resolve({ code: 'code', expiresAt: this.codeExpiresAt })
          : Promise.reject(new Error('the session is closed')),
      logout: () => {
        setImmediate(opened.say, closed('invalidated'))
        return Promise.resolve()
      },
      close: async () => {
        opened.isOpen = false
        await this.closing
      },
    } satisfies Partial<NetworkSession> as Partial<NetworkSession> as NetworkSession
  }

  storedJid({ sessionId }: StoredSession): Promise<string | null> {
    return Promise.resolve(this.stored.get(sessionId) ?? null)
  }

  release(): Promise<void> {
    return Promise.resolve()
  }

  forget({ sessionId }: StoredSession): Promise<void> {
    this.forgotten.push(sessionId)
    return Promise.resolve()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }
}
