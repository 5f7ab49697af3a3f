// Handles every stanza of a logged-in client: acknowledges, routes or answers it, or reports it as unknown.
import { hintAttributes, type Fault, type FaultKind, type Faults } from '../faults.ts'
import { GROUP_SERVER, isGroupJid, LID_SERVER, parseJid, PHONE_SERVER } from '../wire/jid.ts'
import { allChildren, child, describeStanza, stanza, unixSeconds, type Stanza } from '../wire/stanza.ts'
import type { CompanionDevice } from './companion-device.ts'
import type { Directory } from './directory.ts'
import { iqKey, type IqRouter } from './iq-router.ts'
import type { GroupMembership, MessageSwitch } from './message-switch.ts'
import type { ReceiptSwitch } from './receipt-switch.ts'
import type { StanzaLog } from './stanza-log.ts'
import type { TokenDesk } from './token-desk.ts'
import type { SimClock } from '../../shiftable-clock.ts'

type Deps = {
  router: IqRouter
  messages: MessageSwitch
  receipts: ReceiptSwitch
  faults: Faults
  directory: Directory
  log: StanzaLog
  tokens: TokenDesk
  clock: SimClock
  findGroup: (jid: string) => GroupMembership | undefined
  /** The client may get more of the stanzas that wait for it: it has asked for them, or acknowledged one. */
  handOver: (device: CompanionDevice) => void
}

/** The error of a message to a stranger without a privacy token. */
const NO_TOKEN = 463
const ROUTED = new Set([PHONE_SERVER, LID_SERVER, GROUP_SERVER])

export class ClientDesk {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  receive(device: CompanionDevice, node: Stanza): void {
    const handlers: Record<string, (device: CompanionDevice, node: Stanza) => void> = {
      iq: this.#query.bind(this),
      message: this.#message.bind(this),
      receipt: this.#receipt.bind(this),
      ack: this.#ack.bind(this),
      presence: this.#presence.bind(this),
      chatstate: this.#chatstate.bind(this),
      call: this.#call.bind(this),
      ib: this.#information.bind(this),
    }
    const handler = handlers[node.tag]
    if (handler) handler(device, node)
    else this.#deps.log.complain(`a stanza the simulator does not know: ${describeStanza(node)}`)
  }

  #query(device: CompanionDevice, iq: Stanza): void {
    if (iq.attrs.type === 'result' || iq.attrs.type === 'error') return
    const { faults, router } = this.#deps
    const key = iqKey(iq)
    const { phone } = device.user
    const isThis = ({ query }: { query: string }): boolean => query === key
    if (faults.strike('query_silence', phone, isThis)) return
    const broken = faults.strike('query_error', phone, isThis)
    const error = broken && stanza('error', { code: String(broken.code), text: 'simulated fault' })
    const { id, to } = iq.attrs
    const answer = error ? stanza('iq', { id, from: to, type: 'error' }, [error]) : router.answer(device, iq)
    if (answer) device.connection?.send(answer)
  }

  #message(device: CompanionDevice, node: Stanza): void {
    const { faults, messages, tokens } = this.#deps
    const { phone } = device.user
    // Faults apply to messages between people, not to messages between a user's own devices.
    const strike = <K extends FaultKind>(kind: K): Extract<Fault, { kind: K }> | undefined =>
      node.attrs.category === 'peer' ? undefined : faults.strike(kind, phone)
    if (strike('lost_message')) return
    const isUnwelcome = node.attrs.category !== 'peer' && tokens.isUnwelcome(device.user, node)
    const refused = strike('ack_error')?.code ?? (isUnwelcome && strike('token_required') ? NO_TOKEN : undefined)
    if (!ROUTED.has(parseJid(node.attrs.to ?? '@').server)) {
      this.#deps.log.complain(`a message to where the simulator does not deliver: ${describeStanza(node)}`)
    }
    const hash = messages.hashFor(device, node)
    const error = refused ?? messages.route(device, node)
    if (strike('lost_ack')) return
    const { id, to: from, participant } = node.attrs
    const failed = error === undefined ? undefined : String(error)
    const hints = failed === undefined ? hintAttributes(strike('ack_hint')) : {}
    const phash = error === undefined ? hash : undefined
    const ack = {
      id,
      class: 'message',
      from,
      participant,
      t: unixSeconds(this.#deps.clock),
      error: failed,
      phash,
      ...hints,
    }
    device.connection?.send(stanza('ack', ack))
  }

  #receipt(device: CompanionDevice, node: Stanza): void {
    this.#deps.receipts.fromCompanion(device, node)
  }

  #ack(device: CompanionDevice, node: Stanza): void {
    const { id, class: kind, error, to: from, participant, type } = node.attrs
    if (id === undefined || kind === undefined) return
    device.books.settle(kind, { id, from, participant, type }, error === undefined ? 'ack' : 'nack')
    if (device.isActive) this.#deps.handOver(device)
  }

  #presence(device: CompanionDevice, node: Stanza): void {
    const { type, to } = node.attrs
    if (type === undefined) this.#deps.log.violate(`a presence without a type reads as online: ${describeStanza(node)}`)
    if (type === 'available' || type === 'unavailable') device.available = type === 'available'
    if (type !== 'subscribe' || to === undefined) return
    const subject = isGroupJid(to) ? to : this.#deps.directory.find(to)
    if (subject) device.subscribe(subject)
  }

  #chatstate(device: CompanionDevice, node: Stanza): void {
    const { to = '' } = node.attrs
    const [state] = allChildren(node)
    const members = isGroupJid(to) ? this.#deps.findGroup(to)?.members() : undefined
    if (state) this.#deps.receipts.chatstate(device, to, state, members)
  }

  #call(device: CompanionDevice, node: Stanza): void {
    const { id, to = '' } = node.attrs
    const link = child(node, 'link_create')
    if (link) {
      const token = stanza('link_create', { token: `sim${id ?? ''}`, media: link.attrs.media })
      device.connection?.send(stanza('ack', { id, class: 'call', from: to, type: 'link_create' }, [token]))
      return
    }
    const refused = child(node, 'reject') && this.#deps.faults.strike('call_error', device.user.phone)
    const error = refused && String(refused.code)
    device.connection?.send(stanza('ack', { id, class: 'call', from: to, error }))
    if (refused) return
    const callee = this.#deps.directory.find(to)
    const from = device.user.jid('pn', device.id)
    const seen = stanza('call', { id, from }, allChildren(node))
    for (const one of callee?.devices.values() ?? []) one.deliver(seen)
  }

  #information(device: CompanionDevice, node: Stanza): void {
    const batch = child(node, 'offline_batch')
    if (batch) {
      if (this.#deps.faults.strike('paused_backlog', device.user.phone)) return
      device.ask(Number(batch.attrs.count))
      this.#deps.handOver(device)
    } else if (!child(node, 'unified_session')) {
      this.#deps.log.complain(`information the simulator does not know: ${describeStanza(node)}`)
    }
  }
}
