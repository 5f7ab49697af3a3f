// Makes the credentials of a companion that needs no pairing, in the shape that the client library stores.
import { proto, type AuthenticationCreds, type SignalDataSet } from '../library.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { CompanionKeys } from '../server/companion-device.ts'
import { KeyPair, typed } from '../signal/curve.ts'
import { deviceSignatureInput, signDeviceIdentity } from './device-identity.ts'
import type { SimPhone } from './sim-phone.ts'

export type LinkedCredentials = { creds: AuthenticationCreds; keys: SignalDataSet }

/** Enough for tests. The client uploads more when the server runs low. */
const PREKEYS = 30

/**
 * Making prekeys is most of the work of linking, so all ready accounts of a network share one set. An account still
 * hands out each prekey once, and its sessions differ by identity and signed prekey.
 */
export function readyPreKeys(random: SeededRandom): KeyPair[] {
  return Array.from({ length: PREKEYS }, () => new KeyPair(random.bytes(32)))
}

const stored = (pair: KeyPair): { private: Buffer; public: Buffer } => ({
  private: pair.privateKey,
  public: pair.publicKey,
})

export function linkedCredentials(
  phone: SimPhone,
  deviceId: number,
  random: SeededRandom,
  shared: KeyPair[],
): { credentials: LinkedCredentials; serverKeys: CompanionKeys } {
  const made: MadeKeys = {
    noise: new KeyPair(random.bytes(32)),
    identity: new KeyPair(random.bytes(32)),
    signed: new KeyPair(random.bytes(32)),
    pairing: new KeyPair(random.bytes(32)),
    advSecret: random.bytes(32),
    registrationId: 1 + random.below(255),
  }
  const signature = made.identity.sign(made.signed.typedPublicKey)
  const preKeys = shared.map((pair, index) => ({ id: index + 1, pair }))
  const { id, data } = phone.appState.key
  const keys: SignalDataSet = {
    'pre-key': Object.fromEntries(preKeys.map((one) => [String(one.id), stored(one.pair)])),
    'app-state-sync-key': { [id.toString('base64')]: { keyData: data, timestamp: Date.now() } },
  }
  const serverKeys: CompanionKeys = {
    noiseKey: made.noise.publicKey,
    identityKey: made.identity.publicKey,
    registrationId: made.registrationId,
    signedPreKey: { id: 1, publicKey: made.signed.publicKey, signature },
    preKeys: preKeys.map((one) => ({ id: one.id, publicKey: one.pair.publicKey })),
  }
  return { credentials: { creds: credsOf(phone, deviceId, made, signature), keys }, serverKeys }
}

type MadeKeys = {
  noise: KeyPair
  identity: KeyPair
  signed: KeyPair
  pairing: KeyPair
  advSecret: Buffer
  registrationId: number
}

function credsOf(phone: SimPhone, deviceId: number, made: MadeKeys, signature: Buffer): AuthenticationCreds {
  const { user } = phone
  const { publicKey } = made.identity
  const account = signDeviceIdentity(phone.device.signal.identity, publicKey, deviceId)
  const deviceSignature = made.identity.sign(deviceSignatureInput(account, publicKey))
  const identifier = { name: user.jid('lid', deviceId), deviceId: 0 }
  return {
    noiseKey: stored(made.noise),
    pairingEphemeralKeyPair: stored(made.pairing),
    signedIdentityKey: stored(made.identity),
    signedPreKey: { keyId: 1, keyPair: stored(made.signed), signature },
    registrationId: made.registrationId,
    advSecretKey: made.advSecret.toString('base64'),
    me: { id: user.jid('pn', deviceId), lid: user.jid('lid', deviceId), name: user.pushName },
    account: proto.ADVSignedDeviceIdentity.create({ ...account, deviceSignature }),
    signalIdentities: [{ identifier, identifierKey: typed(account.accountSignatureKey) }],
    platform: phone.platform,
    myAppStateKeyId: phone.appState.key.id.toString('base64'),
    processedHistoryMessages: [],
    nextPreKeyId: PREKEYS + 1,
    firstUnuploadedPreKeyId: PREKEYS + 1,
    // With a counter above zero the client does not wait for history. The simulator sends none to ready accounts.
    accountSyncCounter: 1,
    // The phone has told it the timer with which its owner begins new chats.
    accountSettings: {
      unarchiveChats: false,
      defaultDisappearingMode: {
        ephemeralExpiration: user.defaultTimer.seconds,
        ephemeralSettingTimestamp: user.defaultTimer.setAt,
      },
    },
    registered: true,
    pairingCode: undefined,
    lastPropHash: undefined,
    routingInfo: undefined,
  }
}
