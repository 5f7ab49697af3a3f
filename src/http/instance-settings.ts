// Translates the settings of an instance from the JSON of the API. Absent means unchanged, and so does null, except for the
// settings that the service also has: there null means the one of the service.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import { BridgeError } from '../core/errors.ts'
import { clampHistoryDays, longestHistoryDays } from '../core/jobs/history-jobs.ts'
import { longestProxyUrl, networkProxyRule, parseNetworkProxy } from '../core/network-proxy.ts'
import { isEventUrl, isSubscriberUrl } from '../core/lifecycle/subscriber.ts'
import { ownerTagPattern } from '../core/tenant.ts'
import type { InstanceSettings } from '../instances/service/instance-settings.ts'
import { Subscriber } from './instance-view.ts'
import { readOwnSettings } from './own-settings.ts'
import type { OwnSettingRules } from './own-settings.ts'
import { nullable } from './schemas.ts'

const maxInteger = 2 ** 31 - 1

const History = Type.Object(
  {
    enabled: Type.Optional(
      nullable(
        Type.Boolean({ description: 'Ask the phone for its history when the account is linked, and import it' }),
      ),
    ),
    days: Type.Optional(
      nullable(
        Type.Integer({
          minimum: -maxInteger,
          maximum: maxInteger,
          description: `How many days back; values outside of 1 to ${longestHistoryDays} count as the nearest of both`,
        }),
      ),
    ),
  },
  { title: 'HistorySettings' },
)

export const createFields = {
  events_webhook_url: Type.Optional(
    nullable(Type.String({ maxLength: 2048, description: 'http(s) URL for all events; empty clears it' })),
  ),
  events_webhook_subscribers: Type.Optional(
    nullable(
      Type.Array(Subscriber, { maxItems: 50, description: 'Replace the single URL; an empty array resets to it' }),
    ),
  ),
  inbox_id: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: maxInteger, description: '0 clears it' }))),
  owner_tag: Type.Optional(
    nullable(
      Type.String({ pattern: `^$|${ownerTagPattern}`, description: 'an owner tag: up to 128 printable characters' }),
    ),
  ),
  network_proxy: Type.Optional(
    nullable(
      Type.String({
        maxLength: longestProxyUrl,
        description: `${networkProxyRule}. Answers leave both out. Empty or null: the proxy of the service, if any`,
      }),
    ),
  ),
  outgoing_rate_limit: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 0,
        maximum: 100_000,
        description: 'Messages per minute; more messages wait in order. 0: no limit. Null: SERVICE_OUTGOING_RATE_LIMIT',
      }),
    ),
  ),
  history: Type.Optional(nullable(History)),
}

const patchFields = {
  ...createFields,
  spamguard_enabled: Type.Optional(nullable(Type.Boolean())),
  last_qr_msg_id: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))),
}

export const PatchBody = Type.Object(patchFields, { title: 'InstancePatch' })

export function toSettings(rules: OwnSettingRules, body: Static<typeof PatchBody>): InstanceSettings {
  const { events_webhook_url: url, events_webhook_subscribers: subscribers } = body
  const own = readOwnSettings(rules, body)
  if (url != null && url !== '' && !isEventUrl(url)) {
    throw new BridgeError('SERVICE_BAD_REQUEST', 'events_webhook_url must be an http:// or https:// URL, or empty')
  }
  return {
    ...(url != null && { eventsWebhookUrl: url }),
    ...(subscribers != null && { eventsWebhookSubscribers: subscribers.map(checkSubscriber) }),
    ...(body.inbox_id != null && { inboxId: body.inbox_id }),
    ...(body.owner_tag != null && { ownerTag: body.owner_tag }),
    ...(body.spamguard_enabled != null && { isSpamguardEnabled: body.spamguard_enabled }),
    ...(body.last_qr_msg_id != null && { lastQrMessageId: body.last_qr_msg_id }),
    ...(body.network_proxy !== undefined && { networkProxy: checkProxy(body.network_proxy) }),
    ...(body.outgoing_rate_limit !== undefined && { outgoingRateLimit: body.outgoing_rate_limit }),
    ...(body.history?.enabled != null && { isHistoryEnabled: body.history.enabled }),
    ...(body.history?.days != null && { historyDays: clampHistoryDays(body.history.days) }),
    ...(Object.keys(own).length > 0 && { own }),
  }
}

/** The sentence does not repeat the URL, because it may hold a password. */
function checkProxy(text: string | null): string | null {
  if (text === null || text === '') return null
  const proxy = parseNetworkProxy(text)
  if (proxy === undefined) {
    throw new BridgeError('SERVICE_BAD_REQUEST', `network_proxy must be ${networkProxyRule}`)
  }
  return proxy
}

function checkSubscriber({ url, events = [] }: Static<typeof Subscriber>, index: number) {
  if (isSubscriberUrl(url)) return { url, events }
  throw new BridgeError(
    'SERVICE_BAD_REQUEST',
    `events_webhook_subscribers.${index}.url must be https, or http to a private address or name`,
  )
}
