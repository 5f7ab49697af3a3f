// Ready credentials of a companion that was never paired by hand, in the shape the client library stores them.
import { proto, type AuthenticationCreds, type SignalDataSet } from '../library.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { CompanionKeys } from '../server/companion-device.ts'
import { KeyPair, typed } from '../signal/curve.ts'
import { deviceSignatureInput, signDeviceIdentity } from './device-identity.ts'
import type { SimPhone } from './sim-phone.ts'

export type LinkedCredentials = { creds: AuthenticationCreds; keys: SignalDataSet }

/** Enough for tests; the client uploads more when the server runs low. */
const PREKEYS = 30

/**
 * Making prekeys is most of the work of linking, so all ready accounts of a network share one set. Each account still hands
 * out each of its own only once, and sessions differ by identity and signed prekey.
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
  const [noise, identity, signed] = [0, 1, 2].map(() => new KeyPair(random.bytes(32)))
  if (!noise || !identity || !signed) throw new Error('three keys were made')
  const signature = identity.sign(typed(signed.publicKey))
  const preKeys = shared.map((pair, index) => ({ id: index + 1, pair }))
  const registrationId = 1 + random.below(255)
  const account = signDeviceIdentity(phone.device.signal.identity, identity.publicKey, deviceId)
  const deviceSignature = identity.sign(deviceSignatureInput(account, identity.publicKey))
  const { key: appStateKey } = phone.appState
  const appStateKeyId = appStateKey.id.toString('base64')
  const { user } = phone
  const creds: AuthenticationCreds = {
    noiseKey: stored(noise),
    pairingEphemeralKeyPair: stored(new KeyPair(random.bytes(32))),
    signedIdentityKey: stored(identity),
    signedPreKey: { keyId: 1, keyPair: stored(signed), signature },
    registrationId,
    advSecretKey: random.bytes(32).toString('base64'),
    me: { id: user.jid('pn', deviceId), lid: user.jid('lid', deviceId), name: user.pushName },
    account: proto.ADVSignedDeviceIdentity.create({ ...account, deviceSignature }),
    signalIdentities: [
      {
        identifier: { name: user.jid('lid', deviceId), deviceId: 0 },
        identifierKey: typed(account.accountSignatureKey),
      },
    ],
    platform: 'android',
    myAppStateKeyId: appStateKeyId,
    processedHistoryMessages: [],
    nextPreKeyId: PREKEYS + 1,
    firstUnuploadedPreKeyId: PREKEYS + 1,
    // Above zero the client does not wait for a history that will not come.
    accountSyncCounter: 1,
    accountSettings: { unarchiveChats: false },
    registered: true,
    pairingCode: undefined,
    lastPropHash: undefined,
    routingInfo: undefined,
  }
  const keys: SignalDataSet = {
    'pre-key': Object.fromEntries(preKeys.map(({ id, pair }) => [String(id), stored(pair)])),
    'app-state-sync-key': { [appStateKeyId]: { keyData: appStateKey.data, timestamp: Date.now() } },
  }
  const serverKeys: CompanionKeys = {
    noiseKey: noise.publicKey,
    identityKey: identity.publicKey,
    registrationId,
    signedPreKey: { id: 1, publicKey: signed.publicKey, signature },
    preKeys: preKeys.map(({ id, pair }) => ({ id, publicKey: pair.publicKey })),
  }
  return { credentials: { creds, keys }, serverKeys }
}
