// Links new companions: offers QR references on registration connections and completes scans and codes.
//
// An offer lives as long as its connection and the pairing window. It is `offered` until a phone scans or links it,
// `signing` until the companion has counter-signed its identity, and then the stream restarts (515) for the login.
import { Journal } from '../../journal.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { CompanionKeys } from '../server/companion-device.ts'
import type { Connection, LoginPayload } from '../wire/connection.ts'
import { SERVER_JID } from '../wire/jid.ts'
import { child, describeStanza, requiredBytes, stanza, unixSeconds, type Stanza } from '../wire/stanza.ts'
import { CodePairing } from './code-pairing.ts'
import { isCounterSigned, sealIdentity, signDeviceIdentity, type SignedIdentity } from './device-identity.ts'
import type { SimPhone } from './sim-phone.ts'
import type { SimClock } from '../../shiftable-clock.ts'

type Signing = { phone: SimPhone; deviceId: number; identity: SignedIdentity; done: (error?: Error) => void }
type Hello = { phone: string; wrappedEphemeral: Buffer; ref: string }
type Offer = {
  connection: Connection
  keys: CompanionKeys
  refs: string[]
  openedAt: number
  cancelTimeout: () => void
  signing?: Signing
  hello?: Hello
  code?: { phone: SimPhone; pairing: CodePairing; done: (error?: Error) => void }
}
type Deps = {
  random: SeededRandom
  clock: SimClock
  refs: number
  rotationMs: number
  complain: (problem: string) => void
  link: (phone: SimPhone, deviceId: number, keys: CompanionKeys) => void
}

const HELLO_WAIT_MS = 5_000
/** As in life: the first reference is good for three rotations, each later one for one more. */
const lifetime = (index: number, rotationMs: number): number => (index + 3) * rotationMs

export class PairingSlot {
  readonly #deps: Deps
  readonly #offers = new Map<Connection, Offer>()
  readonly #hellos = new Journal<Offer>('requests for a code', (one) => `for ${one.hello?.phone ?? 'nobody'}`, 100)

  constructor(deps: Deps) {
    this.#deps = deps
  }

  open(connection: Connection, { payload, noiseKey }: LoginPayload): void {
    const { random, clock, refs: count, rotationMs } = this.#deps
    const refs = Array.from({ length: count }, () => `2@${random.bytes(24).toString('base64url')}`)
    const cancelTimeout = clock.after(lifetime(count - 1, rotationMs), () => {
      connection.end()
    })
    const keys = companionKeys(payload.devicePairingData, noiseKey)
    this.#offers.set(connection, { connection, keys, refs, openedAt: clock.now(), cancelTimeout })
    const nodes = refs.map((ref) => stanza('ref', {}, Buffer.from(ref)))
    const attributes = { from: SERVER_JID, type: 'set', id: random.hex(6), xmlns: 'md' }
    connection.send(stanza('iq', attributes, [stanza('pair-device', {}, nodes)]))
  }

  close(connection: Connection): void {
    const offer = this.#offers.get(connection)
    if (!offer) return
    offer.cancelTimeout()
    this.#offers.delete(connection)
    offer.signing?.done(new Error('the companion hung up while pairing'))
    offer.code?.done(new Error('the companion hung up while pairing'))
  }

  /** The text of a QR code as the client shows it. */
  async scan(phone: SimPhone, qr: string): Promise<number> {
    const [ref = '', noise = '', identity = '', secret = ''] = qr.replace(/^.*#/, '').split(',')
    const offer = [...this.#offers.values()].find((one) => one.refs.includes(ref))
    const age = this.#deps.clock.now() - (offer?.openedAt ?? 0)
    if (!offer || age > lifetime(offer.refs.indexOf(ref), this.#deps.rotationMs)) {
      throw new Error('this QR code is not valid (any more)')
    }
    const { keys } = offer
    const genuine = keys.noiseKey.toString('base64') === noise && keys.identityKey.toString('base64') === identity
    if (!genuine) throw new Error('the QR code names other keys than the connection it came from')
    return this.#sign(offer, phone, Buffer.from(secret, 'base64'))
  }

  async link(phone: SimPhone, code: string): Promise<number> {
    const offer = await this.#askingFor(phone.user.phone)
    const pairing = new CodePairing(phone.device.signal.identity, this.#deps.random)
    const wrapped = await pairing.answer(code.replace(/^(.{4})-(.{4})$/, '$1$2'), offer.hello.wrappedEphemeral)
    const finished = new Promise<void>((resolve, reject) => {
      const done = (error?: Error): void => {
        if (error) reject(error)
        else resolve()
      }
      offer.code = { phone, pairing, done }
    })
    const reply = stanza('link_code_companion_reg', { stage: 'primary_hello' }, [
      stanza('link_code_pairing_wrapped_primary_ephemeral_pub', {}, wrapped),
      stanza('primary_identity_pub', {}, phone.device.signal.identity.publicKey),
      stanza('link_code_pairing_ref', {}, Buffer.from(offer.hello.ref)),
    ])
    const attributes = {
      from: SERVER_JID,
      type: 'link_code_companion_reg',
      id: this.#deps.random.hex(6),
      t: unixSeconds(this.#deps.clock),
    }
    offer.connection.send(stanza('notification', attributes, [reply]))
    await finished
    return phone.latestDeviceId
  }

  /** Stanzas of a connection that is not logged in. */
  receive(connection: Connection, node: Stanza): void {
    const offer = this.#offers.get(connection)
    if (!offer || node.tag === 'ib' || node.tag === 'ack' || node.tag === 'presence') return
    const { id, type } = node.attrs
    const result = (content?: Stanza[]): void => {
      connection.send(stanza('iq', { id, from: SERVER_JID, type: 'result' }, content))
    }
    const registration = child(node, 'link_code_companion_reg')
    if (node.tag === 'iq' && type === 'result') this.#finish(offer, node)
    else if (child(node, 'ping')) result()
    else if (registration?.attrs.stage === 'companion_hello') result([this.#hello(offer, registration)])
    else if (registration?.attrs.stage === 'companion_finish') {
      result()
      this.#companionFinish(offer, registration)
    } else this.#deps.complain(`not expected before a login: ${describeStanza(node)}`)
  }

  /** A code can be typed a moment before the companion's request has arrived. */
  async #askingFor(phone: string): Promise<Offer & { hello: Hello }> {
    const isAsking = (one: Offer): one is Offer & { hello: Hello } => one.hello?.phone === phone
    const here = [...this.#offers.values()].find(isAsking)
    if (here) return here
    const what = `a companion that asks to be linked with ${phone}`
    const came = await this.#hellos.waitAfter(this.#hellos.length, what, isAsking, HELLO_WAIT_MS)
    if (!isAsking(came)) throw new Error(`not ${what}`)
    return came
  }

  #hello(offer: Offer, node: Stanza): Stanza {
    const ref = this.#deps.random.hex(16)
    const name = 'link_code_pairing_wrapped_companion_ephemeral_pub'
    const wrappedEphemeral = requiredBytes(child(node, name), 'companion key')
    offer.hello = { phone: (node.attrs.jid ?? '').replace(/\D.*$/, ''), wrappedEphemeral, ref }
    this.#hellos.add(offer)
    return stanza('link_code_companion_reg', { stage: 'companion_hello' }, [
      stanza('link_code_pairing_ref', {}, Buffer.from(ref)),
    ])
  }

  #companionFinish(offer: Offer, node: Stanza): void {
    const { code } = offer
    if (!code) {
      this.#deps.complain('a companion finished a code pairing that no phone had answered')
      return
    }
    const bundle = requiredBytes(child(node, 'link_code_pairing_wrapped_key_bundle'), 'key bundle')
    try {
      const secret = code.pairing.finish(bundle, offer.keys.identityKey)
      this.#sign(offer, code.phone, secret).then(() => {
        code.done()
      }, code.done)
    } catch (error) {
      code.done(new Error('the code is wrong', { cause: error }))
    }
  }

  #sign(offer: Offer, phone: SimPhone, secret: Buffer): Promise<number> {
    const deviceId = phone.claimDeviceId()
    const identity = signDeviceIdentity(phone.device.signal.identity, offer.keys.identityKey, deviceId)
    const { user } = phone
    return new Promise((resolve, reject) => {
      const done = (error?: Error): void => {
        if (error) reject(error)
        else resolve(deviceId)
      }
      offer.signing = { phone, deviceId, identity, done }
      const success = stanza('pair-success', {}, [
        stanza('device', { jid: user.jid('pn', deviceId), lid: user.jid('lid', deviceId) }),
        stanza('platform', { name: 'android' }),
        stanza('device-identity', {}, sealIdentity(identity, secret)),
      ])
      const attributes = {
        from: SERVER_JID,
        type: 'set',
        id: this.#deps.random.hex(6),
        xmlns: 'md',
        t: unixSeconds(this.#deps.clock),
      }
      offer.connection.send(stanza('iq', attributes, [success]))
    })
  }

  #finish(offer: Offer, result: Stanza): void {
    const reply = child(child(result, 'pair-device-sign'), 'device-identity')
    const { signing } = offer
    if (!reply || !signing) return
    if (!isCounterSigned(signing.identity, offer.keys.identityKey, requiredBytes(reply, 'device identity'))) {
      signing.done(new Error('the companion signed its identity wrongly'))
      return
    }
    offer.cancelTimeout()
    this.#offers.delete(offer.connection)
    this.#deps.link(signing.phone, signing.deviceId, offer.keys)
    offer.connection.end(stanza('stream:error', { code: '515' }))
    signing.done()
    offer.code?.done()
  }
}

type Registration = NonNullable<LoginPayload['payload']['devicePairingData']>

function companionKeys(data: Registration | null | undefined, noiseKey: Buffer): CompanionKeys {
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
