// One offer to link a companion: a registration connection with its keys, its QR references and the state of its pairing.
import type { CompanionKeys } from '../server/companion-device.ts'
import type { Connection, LoginPayload } from '../wire/connection.ts'
import type { CodePairing } from './code-pairing.ts'
import type { SignedIdentity } from './device-identity.ts'
import type { HistoryWish } from './history-wish.ts'
import type { SimPhone } from './sim-phone.ts'

type Done = (error?: Error) => void
export type Hello = { phone: string; wrappedEphemeral: Buffer; ref: string }
export type Offer = {
  connection: Connection
  keys: CompanionKeys
  wish: HistoryWish
  refs: string[]
  openedAt: number
  cancelTimeout: () => void
  signing?: { phone: SimPhone; deviceId: number; identity: SignedIdentity; done: Done }
  hello?: Hello
  code?: { phone: SimPhone; pairing: CodePairing; done: Done }
}

type Registration = NonNullable<LoginPayload['payload']['devicePairingData']>

export function companionKeys(data: Registration | null | undefined, noiseKey: Buffer): CompanionKeys {
  if (!data?.eIdent || !data.eRegid || !data.eSkeyId || !data.eSkeyVal || !data.eSkeySig) {
    throw new Error('a registration without keys')
  }
  const id = Buffer.from(data.eSkeyId).readUIntBE(0, data.eSkeyId.length)
  return {
    noiseKey,
    identityKey: Buffer.from(data.eIdent),
    registrationId: Buffer.from(data.eRegid).readUInt32BE(0),
    signedPreKey: { id, publicKey: Buffer.from(data.eSkeyVal), signature: Buffer.from(data.eSkeySig) },
    preKeys: [],
  }
}
