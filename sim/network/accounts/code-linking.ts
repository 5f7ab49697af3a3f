// Links companions by code: a companion asks for a phone, the phone types the code, and both exchange their keys.
import { EventLog } from '../../event-log.ts'
import type { SimClock } from '../../shiftable-clock.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { SERVER_JID } from '../wire/jid.ts'
import { child, requiredBytes, stanza, unixSeconds, type Stanza } from '../wire/stanza.ts'
import { CodePairing } from './code-pairing.ts'
import type { Hello, Offer } from './pairing-offer.ts'
import type { SimPhone } from './sim-phone.ts'

type AskingOffer = Offer & { hello: Hello }
type Deps = {
  random: SeededRandom
  clock: SimClock
  offers: () => Iterable<Offer>
  complain: (problem: string) => void
  /** Signs the identity of the companion and resolves when the companion is linked. */
  sign: (offer: Offer, phone: SimPhone, secret: Buffer) => Promise<number>
}

const HELLO_WAIT_MS = 5_000
const REGISTRATION = 'link_code_companion_reg'

export class CodeLinking {
  readonly #deps: Deps
  readonly #hellos = new EventLog<Offer>(
    'requests for a code',
    (one) => `for ${one.hello?.phone ?? 'an unknown phone'}`,
    100,
  )

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async link(phone: SimPhone, code: string): Promise<number> {
    const { random, clock } = this.#deps
    const offer = await this.#askingFor(phone.user.phone)
    const { identity } = phone.device.signal
    const pairing = new CodePairing(identity, random)
    const wrapped = await pairing.answer(code.replace(/^(.{4})-(.{4})$/, '$1$2'), offer.hello.wrappedEphemeral)
    const finished = new Promise<void>((resolve, reject) => {
      const done = (error?: Error): void => {
        if (error) reject(error)
        else resolve()
      }
      offer.code = { phone, pairing, done }
    })
    const reply = stanza(REGISTRATION, { stage: 'primary_hello' }, [
      stanza('link_code_pairing_wrapped_primary_ephemeral_pub', {}, wrapped),
      stanza('primary_identity_pub', {}, identity.publicKey),
      stanza('link_code_pairing_ref', {}, Buffer.from(offer.hello.ref)),
    ])
    const attributes = { from: SERVER_JID, type: REGISTRATION, id: random.hex(6), t: unixSeconds(clock) }
    offer.connection.send(stanza('notification', attributes, [reply]))
    await finished
    return phone.latestDeviceId
  }

  /** Takes the request of a companion and returns the answer. */
  hello(offer: Offer, node: Stanza): Stanza {
    const ref = this.#deps.random.hex(16)
    const name = 'link_code_pairing_wrapped_companion_ephemeral_pub'
    const wrappedEphemeral = requiredBytes(child(node, name), 'companion key')
    offer.hello = { phone: (node.attrs.jid ?? '').replace(/\D.*$/, ''), wrappedEphemeral, ref }
    this.#hellos.add(offer)
    return stanza(REGISTRATION, { stage: 'companion_hello' }, [stanza('link_code_pairing_ref', {}, Buffer.from(ref))])
  }

  /** Takes the key bundle of a companion. A wrong code fails here. */
  finish(offer: Offer, node: Stanza): void {
    const { code } = offer
    if (!code) {
      this.#deps.complain('a companion finished a code pairing that no phone had answered')
      return
    }
    const bundle = requiredBytes(child(node, 'link_code_pairing_wrapped_key_bundle'), 'key bundle')
    try {
      const secret = code.pairing.finish(bundle, offer.keys.identityKey)
      this.#deps.sign(offer, code.phone, secret).then(() => {
        code.done()
      }, code.done)
    } catch (error) {
      code.done(new Error('the code is wrong', { cause: error }))
    }
  }

  /** Waits for the companion's request: a test can type the code a moment before the request arrives. */
  async #askingFor(phone: string): Promise<AskingOffer> {
    const isAsking = (one: Offer): one is AskingOffer => one.hello?.phone === phone
    const here = [...this.#deps.offers()].find(isAsking)
    if (here) return here
    const what = `a companion that asks to be linked with ${phone}`
    const came = await this.#hellos.waitAfter(this.#hellos.length, what, isAsking, HELLO_WAIT_MS)
    if (!isAsking(came)) throw new Error(`not ${what}`)
    return came
  }
}
