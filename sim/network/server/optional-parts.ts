// The parts of a message that the real server adds for some messages and leaves out for others. A test can omit each of them.
import { proto } from '../library.ts'
import { allChildren, stanza, type Attributes, type Stanza } from '../wire/stanza.ts'
import type { User } from './user.ts'

export const OPTIONAL_PARTS = ['addressing_mode', 'device-identity', 'meta', 'reporting', 'verified_name'] as const
export type OptionalPart = (typeof OPTIONAL_PARTS)[number]

/** The server's own mark on every message. With it a reported message is found again. */
const REPORTING_TAG = stanza('reporting_tag', {}, Buffer.alloc(20, 1))
const SERIAL = '4711'

type Envelope = { tag: string; sender: User; envelope: Attributes }

export class OptionalParts {
  /** The parts that no client gets. */
  readonly omitted = new Set<OptionalPart>()

  message({ tag, sender, envelope }: Envelope, content: Stanza[]): Stanza {
    const isPeer = envelope['category'] === 'peer'
    const certificate = sender.businessName === undefined ? [] : [nameCertificate(sender.businessName)]
    const named = certificate.length > 0 ? { verified_name: SERIAL, verified_level: 'unknown' } : {}
    const attributes: Attributes = { ...envelope, ...named }
    const children = isPeer ? content : [...withReportingTag(content), ...certificate]
    for (const part of this.omitted) attributes[part] = undefined
    const omitted: ReadonlySet<string> = this.omitted
    return stanza(
      tag,
      attributes,
      children.filter(({ tag }) => !omitted.has(tag)),
    )
  }
}

function withReportingTag(content: Stanza[]): Stanza[] {
  const report = content.find(({ tag }) => tag === 'reporting')
  const others = content.filter((one) => one !== report)
  return [...others, stanza('reporting', {}, [REPORTING_TAG, ...allChildren(report)])]
}

function nameCertificate(verifiedName: string): Stanza {
  const details = proto.VerifiedNameCertificate.Details.encode({
    serial: Number(SERIAL),
    issuer: 'smb:wa',
    verifiedName,
  })
  const certificate = proto.VerifiedNameCertificate.encode({ details: details.finish(), signature: Buffer.alloc(64) })
  return stanza('verified_name', { v: '2' }, certificate.finish())
}
