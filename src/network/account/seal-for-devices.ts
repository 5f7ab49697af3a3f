// Seals a message for many devices in one Signal step and one write.

import type { Jid } from '../../core/ids.ts'
import { eventLoopShare } from '../../lib/event-loop-share.ts'
import type { SignalRepositoryWithLIDStore } from '../library/library.ts'
import type { ConnectionKeys } from './connection-keys.ts'
import { resolveLid } from './lid-lookups.ts'
import { sealWithSession } from './session-seal.ts'
import type { OwnIdentity, SessionRecord } from './session-seal.ts'

type Deps = { stock: SignalRepositoryWithLIDStore; connectionKeys: ConnectionKeys; own: OwnIdentity }
export type DeviceData = { jid: Jid; data: Uint8Array }
/** `address` names the session with the device. */
type Addressed = DeviceData & { address: string }
type Sealed = Awaited<ReturnType<SignalRepositoryWithLIDStore['encryptMessage']>>

/** Devices per turn of the event loop. */
const sealedPerTurn = 8

/** Undefined for a device that has no session. */
export async function sealForDevices(deps: Deps, items: readonly DeviceData[]): Promise<(Sealed | undefined)[]> {
  const { stock, connectionKeys } = deps
  const addressed: Addressed[] = []
  // Before the step, because it may ask the server.
  for (const { jid, data } of items) {
    const address = stock.jidToSignalProtocolAddress((await resolveLid(stock, jid)) ?? jid)
    addressed.push({ jid, data, address })
  }
  return await connectionKeys.runStep(async () => {
    const sealed: (Sealed | undefined)[] = []
    for (let start = 0; start < addressed.length; start += sealedPerTurn) {
      if (start > 0) await eventLoopShare.next()
      sealed.push(...(await sealInStep(deps, addressed.slice(start, start + sealedPerTurn))))
    }
    return sealed
  })
}

async function sealInStep(
  { stock, connectionKeys, own }: Deps,
  items: readonly Addressed[],
): Promise<(Sealed | undefined)[]> {
  const addresses = items.map(({ address }) => address)
  const records = (await connectionKeys.account.getInStep('session', addresses)) as Record<string, SessionRecord>
  const changed: Record<string, SessionRecord> = {}
  const sealed = items.map(({ address, data }): Sealed | undefined => {
    const record = records[address]
    const one = record && sealWithSession(record, data, own)
    if (one) changed[address] = record
    return one
  })
  await connectionKeys.setInStep({ session: changed })
  for (const [index, { jid, data }] of items.entries()) {
    sealed[index] ??= await stock.encryptMessage({ jid, data }).catch(withoutSession)
  }
  return sealed
}

function withoutSession(error: unknown): undefined {
  if (error instanceof Error && error.name === 'SessionError') return undefined
  throw error
}
