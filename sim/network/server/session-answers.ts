// Default answers to the queries of every session: keep-alive, activity, settings, properties.
import { SERVER_JID } from '../wire/jid.ts'
import { children, stanza, textOf, unixSeconds, type Stanza } from '../wire/stanza.ts'
import type { CompanionDevice } from './companion-device.ts'
import { IqError, type IqTable } from './iq-router.ts'
import type { User } from './user.ts'
import type { SimClock } from '../../shiftable-clock.ts'

type Deps = {
  /** Switches of the real server's experiments, by their number. Clients ask for them after the login. */
  abProps: ReadonlyMap<string, string>
  onActive: (device: CompanionDevice) => void
  onRemoveCompanion: (device: CompanionDevice) => void
}

const PRIVACY: Record<string, string> = {
  readreceipts: 'all',
  profile: 'all',
  status: 'all',
  online: 'all',
  last: 'all',
  groupadd: 'all',
  calladd: 'all',
  messages: 'all',
}

export function sessionAnswers({ abProps, onActive, onRemoveCompanion }: Deps): IqTable {
  return {
    'w:p get ping': () => [],
    'passive set active': ({ device }) => {
      // The result must leave before the stanzas that waited for the client.
      setImmediate(onActive, device)
      return []
    },
    'passive set passive': () => [],
    'md set remove-companion-device': ({ device }) => {
      setImmediate(onRemoveCompanion, device)
      return []
    },
    'urn:xmpp:whatsapp:dirty set clean': () => [],
    'abt get props': () => {
      const attributes = { protocol: '1', hash: 'simulated', ab_key: 'simulated', refresh: '86400' }
      const props = [...abProps].map(([code, value]) => stanza('prop', { config_code: code, config_value: value }))
      return [stanza('props', attributes, props)]
    },
    'w:stats add': () => [],
    'disappearing_mode set disappearing_mode': () => [],
    'status set status': ({ device, content }) => {
      device.user.about = textOf(content) ?? ''
      return []
    },
    'w:biz get business_profile': () => [stanza('business_profile', { v: '244' })],
    'w:mex get query': ({ device, content }) => [stanza('result', {}, mexResult(device.user, content))],
    ...privacyAnswers(),
  }
}

function privacyAnswers(): IqTable {
  const privacy = new WeakMap<CompanionDevice, Record<string, string>>()
  const blocked = new WeakMap<CompanionDevice, Set<string>>()
  const privacyOf = (device: CompanionDevice): Record<string, string> => privacy.get(device) ?? { ...PRIVACY }
  return {
    'blocklist get': ({ device }) => {
      const items = [...(blocked.get(device) ?? [])].map((jid) => stanza('item', { jid }))
      return [stanza('list', {}, items)]
    },
    'blocklist set item': ({ device, content }) => {
      const list = blocked.get(device) ?? new Set()
      const { jid, action } = content?.attrs ?? {}
      if (jid === undefined) throw new IqError(400, 'bad-request')
      if (action === 'block') list.add(jid)
      else list.delete(jid)
      blocked.set(device, list)
      return []
    },
    'privacy get privacy': ({ device }) => [privacyNode(privacyOf(device))],
    'privacy set privacy': ({ device, content }) => {
      const settings = privacyOf(device)
      for (const { attrs } of children(content, 'category')) {
        if (attrs.name !== undefined && attrs.value !== undefined) settings[attrs.name] = attrs.value
      }
      privacy.set(device, settings)
      return [privacyNode(settings)]
    },
  }
}

function privacyNode(settings: Record<string, string>): Stanza {
  return stanza(
    'privacy',
    {},
    Object.entries(settings).map(([name, value]) => stanza('category', { name, value })),
  )
}

/** Clients ask for restrictions after a refused message. */
function mexResult({ restrictedUntil }: User, query: Stanza | undefined): Buffer {
  const ends =
    restrictedUntil === undefined ? {} : { time_enforcement_ends: String(Math.floor(restrictedUntil / 1000)) }
  const data = {
    xwa2_fetch_account_reachout_timelock: {
      is_active: restrictedUntil !== undefined,
      enforcement_type: restrictedUntil === undefined ? 'DEFAULT' : 'WEB_COMPANION_ONLY',
      ...ends,
    },
    xwa2_message_capping_info: null,
  }
  return Buffer.from(JSON.stringify({ data, query_id: query?.attrs['query_id'] }))
}

/** The first stanzas after a login. */
export function welcome(device: CompanionDevice, routingInfo: Buffer, clock: SimClock): Stanza[] {
  const routing = stanza('edge_routing', {}, [stanza('routing_info', {}, routingInfo)])
  return [
    stanza('success', {
      t: unixSeconds(clock),
      lid: device.user.jid('lid', device.id),
      props: '27',
      companion_enc_static: '',
      location: 'sim',
      display_name: device.user.pushName,
    }),
    stanza('ib', { from: SERVER_JID }, [routing]),
  ]
}
