// Links new companions: offers QR references on registration connections and completes scans and codes.
//
// An offer ends with its connection or with the pairing window. Its state is `offered` until a phone scans or links it,
// then `signing` until the companion has counter-signed its identity. Then the stream restarts (515) for the login.
import type { SeededRandom } from '../seeded-random.ts'
import type { CompanionKeys } from '../server/companion-device.ts'
import type { Connection, LoginPayload } from '../wire/connection.ts'
import { SERVER_JID } from '../wire/jid.ts'
import { child, describeStanza, requiredBytes, stanza, unixSeconds, type Stanza } from '../wire/stanza.ts'
import { clientProps } from './lid-migration.ts'
import { CodeLinking } from './code-linking.ts'
import { isCounterSigned, sealIdentity, signDeviceIdentity } from './device-identity.ts'
import { historyWish, type HistoryWish } from './history-wish.ts'
import { companionKeys, type Offer } from './pairing-offer.ts'
import { passkeyRequest } from './passkey-request.ts'
import type { SimPhone } from './sim-phone.ts'
import type { SimClock } from '../../shiftable-clock.ts'

type Deps = {
  random: SeededRandom
  clock: SimClock
  refs: number
  rotationMs: number
  complain: (problem: string) => void
  link: (phone: SimPhone, deviceId: number, keys: CompanionKeys, wish: HistoryWish) => void
}

/** As on the real network: the first reference is valid for three rotations, each later one for one rotation more. */
const lifetime = (index: number, rotationMs: number): number => (index + 3) * rotationMs

export class PairingDesk {
  readonly #deps: Deps
  readonly #offers = new Map<Connection, Offer>()
  readonly #codes: CodeLinking

  constructor(deps: Deps) {
    this.#deps = deps
    const { random, clock, complain } = deps
    const offers = this.#offers.values.bind(this.#offers)
    this.#codes = new CodeLinking({ random, clock, complain, offers, sign: this.#sign.bind(this) })
  }

  open(connection: Connection, { payload, noiseKey }: LoginPayload): void {
    const { random, clock, refs: count, rotationMs } = this.#deps
    const refs = Array.from({ length: count }, () => `2@${random.bytes(24).toString('base64url')}`)
    const cancelTimeout = clock.after(lifetime(count - 1, rotationMs), () => {
      connection.end()
    })
    const keys = companionKeys(payload.devicePairingData, noiseKey)
    const wish = historyWish(payload)
    this.#offers.set(connection, { connection, keys, wish, refs, openedAt: clock.now(), cancelTimeout })
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

  /** Takes the text of the QR code that the client shows. */
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

  link(phone: SimPhone, code: string): Promise<number> {
    return this.#codes.link(phone, code)
  }

  /** Handles the stanzas of a connection that is not logged in. */
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
    else if (registration?.attrs.stage === 'companion_hello') result([this.#codes.hello(offer, registration)])
    else if (registration?.attrs.stage === 'companion_finish') {
      result()
      this.#codes.finish(offer, registration)
    } else this.#deps.complain(`not expected before a login: ${describeStanza(node)}`)
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
      if (phone.asksPasskey) {
        offer.connection.send(passkeyRequest(this.#deps.random))
        return
      }
      const success = stanza('pair-success', {}, [
        stanza('device', { jid: user.jid('pn', deviceId), lid: user.jid('lid', deviceId) }),
        stanza('platform', { name: phone.platform }),
        stanza('device-identity', {}, sealIdentity(identity, secret)),
        ...clientProps(user),
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
    this.#deps.link(signing.phone, signing.deviceId, offer.keys, offer.wish)
    offer.connection.end(stanza('stream:error', { code: '515' }))
    signing.done()
    offer.code?.done()
  }
}
