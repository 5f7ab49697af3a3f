// Keeps the lasting faults and answers, at each step of the server, whether one of them strikes there.
import type { CompanionDevice } from './server/companion-device.ts'
import type { Addressing } from './server/user.ts'
import { child, stanza, type Attributes, type Stanza } from './wire/stanza.ts'

/** `times` is how often the fault strikes. With Infinity it strikes until it is cleared. */
type Lasting = { account?: string; times?: number }
export type Fault = Lasting &
  (
    | { kind: 'login_failure'; code: number; ban?: { code: number; expire: number } }
    /** Another server answers the next connection: it shows the genuine certificate and has another key. */
    | { kind: 'foreign_certificate' }
    | { kind: 'ack_error'; code: number }
    /** The acknowledgement of a message that is taken carries these hints. */
    | { kind: 'ack_hint'; refreshLid?: boolean; addressingMode?: Addressing }
    /** The server takes and delivers the message but sends no acknowledgement. */
    | { kind: 'lost_ack' }
    /** The message is lost before the server has it. */
    | { kind: 'lost_message' }
    /** The rejection of a call is refused in its acknowledgement, and the call goes on ringing. */
    | { kind: 'call_error'; code: number }
    /** A receipt of the client is lost, so its message stays unacknowledged. */
    | { kind: 'lost_receipt' }
    /** The server pauses: it gives nothing for a request of the backlog. */
    | { kind: 'paused_backlog' }
    /** The server does not announce the end of the backlog. */
    | { kind: 'lost_backlog_end' }
    /** A message to a stranger without a right privacy token is refused (463). */
    | { kind: 'token_required' }
    | { kind: 'undecryptable' }
    | { kind: 'duplicate' }
    /** The server collects this many messages and then delivers the last one first. */
    | { kind: 'reorder'; count: number }
    | { kind: 'delay'; ms: number }
    /** The connection drops when the client's n-th stanza with this tag arrives, before the server reads the stanza. */
    | { kind: 'drop_on'; tag: string; nth?: number }
    | { kind: 'query_silence'; query: string }
    | { kind: 'query_error'; query: string; code: number }
  )
export type FaultKind = Fault['kind']
/** Faults that strike at once and are not kept. */
export type ImmediateFault =
  | { kind: 'drop' | 'silence' | 'server_restart'; account?: string }
  | { kind: 'stream_error'; account?: string; reason: StreamErrorReason }
export type StreamErrorReason = 'replaced' | 'device_removed' | 'restart' | number

type Active = { fault: Fault; left: number; seen: number; held: { device: CompanionDevice; node: Stanza }[] }

export class Faults {
  #active: Active[] = []

  add(fault: Fault): void {
    this.#active.push({ fault, left: fault.times ?? (fault.kind === 'delay' ? Infinity : 1), seen: 0, held: [] })
  }

  /** Removes every fault. Returns the stanzas that a `reorder` fault still had, oldest first. */
  clear(): { device: CompanionDevice; node: Stanza }[] {
    const held = this.#active.flatMap((one) => one.held)
    this.#active = []
    return held
  }

  list(): Fault[] {
    return this.#active.map((one) => one.fault)
  }

  /** Uses up one strike of the first fault of this kind, if there is such a fault. */
  strike<K extends FaultKind>(
    kind: K,
    account: string,
    when: (fault: Extract<Fault, { kind: K }>) => boolean = () => true,
  ): Extract<Fault, { kind: K }> | undefined {
    const active = this.#find(kind, account, when)
    if (!active) return undefined
    active.left -= 1
    if (active.left <= 0) this.#active = this.#active.filter((one) => one !== active)
    return active.fault
  }

  dropsOn(account: string, tag: string): boolean {
    const active = this.#find('drop_on', account, (fault) => fault.tag === tag)
    if (!active) return false
    active.seen += 1
    if (active.seen < (active.fault.nth ?? 1)) return false
    this.#active = this.#active.filter((one) => one !== active)
    return true
  }

  delayFor(account: string): number {
    return this.#find('delay', account, () => true)?.fault.ms ?? 0
  }

  /** The stanzas that a companion gets in place of this one. */
  filter(device: CompanionDevice, node: Stanza): Stanza[] {
    if (node.tag !== 'message' || node.attrs.category === 'peer') return [node]
    const account = device.user.phone
    const reorder = this.#find('reorder', account, () => true)
    if (reorder) {
      reorder.held.push({ device, node })
      if (reorder.held.length < reorder.fault.count) return []
      this.#active = this.#active.filter((one) => one !== reorder)
      const released = reorder.held.toReversed()
      for (const one of released) if (one.device !== device) one.device.deliver(one.node)
      return released.filter((one) => one.device === device).map((one) => one.node)
    }
    const damaged = child(node, 'enc') && this.strike('undecryptable', account) ? damage(node) : node
    return this.strike('duplicate', account) ? [damaged, damaged] : [damaged]
  }

  #find<K extends FaultKind>(
    kind: K,
    account: string,
    when: (fault: Extract<Fault, { kind: K }>) => boolean,
  ): (Active & { fault: Extract<Fault, { kind: K }> }) | undefined {
    const isIt = (one: Active): one is Active & { fault: Extract<Fault, { kind: K }> } =>
      one.fault.kind === kind &&
      (one.fault.account ?? account) === account &&
      when(one.fault as Extract<Fault, { kind: K }>)
    return this.#active.find(isIt)
  }
}

/** Flips the last byte of every ciphertext. Only the authentication of the ciphertext breaks. */
function damage(node: Stanza): Stanza {
  const content = Array.isArray(node.content) ? node.content : []
  const damaged = content.map((part) => {
    if (part.tag !== 'enc' || !(part.content instanceof Uint8Array)) return part
    const bytes = Buffer.from(part.content)
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 0xff
    return { ...part, content: bytes }
  })
  return { ...node, content: damaged }
}

/** The attributes of an acknowledgement that an `ack_hint` adds. */
export function hintAttributes(hint: Extract<Fault, { kind: 'ack_hint' }> | undefined): Attributes {
  return { refresh_lid: hint?.refreshLid ? 'true' : undefined, addressing_mode: hint?.addressingMode }
}

/** The refusal of a login. A temporary ban carries its code and its end. */
export function failureNode(fault: { code: number; ban?: { code: number; expire: number } }): Stanza {
  const ban: Attributes = fault.ban ? { code: String(fault.ban.code), expire: String(fault.ban.expire) } : {}
  return stanza('failure', { reason: String(fault.code), location: 'sim', ...ban })
}

export function streamError(reason: StreamErrorReason): Stanza {
  if (reason === 'replaced') return stanza('stream:error', {}, [stanza('conflict', { type: 'replaced' })])
  if (reason === 'restart') return stanza('stream:error', { code: '515' })
  if (typeof reason === 'number') return stanza('stream:error', { code: String(reason) })
  return stanza('stream:error', { code: '401' }, [stanza('conflict', { type: 'device_removed' })])
}
