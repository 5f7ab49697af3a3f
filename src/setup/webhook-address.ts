// The address at which a helpdesk calls us for an instance: how it is written, and which instance an address names.

import type { InstanceName } from '../core/ids.ts'
import { instanceNamePattern } from '../core/instance.ts'

/** The base is the address without credentials, path of the instance, and slashes at its end. */
export type WebhookAddress = { base: string; instance: InstanceName }

const namePattern = new RegExp(instanceNamePattern)
/** Chatwoot takes printable ASCII only. Unlike `URL`, it repairs no blank, no backslash and no missing slash. */
const callablePattern = /^https?:\/\/[!-[\]-~]+$/i

/** `publicUrl` is SERVICE_PUBLIC_URL. */
export function webhookUrlOf(publicUrl: string, instance: InstanceName): string {
  const url = new URL(publicUrl)
  url.search = ''
  url.hash = ''
  url.pathname = [...segmentsOf(url), 'api', 'instances', instance, 'webhook'].join('/')
  return url.href
}

/** Null when the text is no address of an instance of this service or of another Causeway. */
export function parseWebhookAddress(text: string): WebhookAddress | null {
  const url = parseHttpUrl(text)
  if (!url) return null
  const [api, instances, instance = '', webhook] = segmentsOf(url).slice(-4)
  if (api !== 'api' || instances !== 'instances' || webhook !== 'webhook' || !namePattern.test(instance)) return null
  return { base: originAnd(url, segmentsOf(url).slice(0, -4)), instance }
}

/** Whether the helpdesk can call this address at all. Chatwoot stores any text as an address. */
export function isCallable(text: string): boolean {
  return parseHttpUrl(text) !== null
}

/** Whether the address leads to the service at `publicUrl`. */
export function leadsTo({ base }: WebhookAddress, publicUrl: string): boolean {
  return base === baseOf(new URL(publicUrl))
}

/** The address without a password that it may hold. */
export function shownAddress(text: string): string {
  const url = parseHttpUrl(text)
  return url ? url.origin + url.pathname : 'no URL'
}

function parseHttpUrl(text: string): URL | null {
  return callablePattern.test(text) ? URL.parse(text) : null
}

function baseOf(url: URL): string {
  return originAnd(url, segmentsOf(url))
}

function originAnd({ origin }: URL, segments: readonly string[]): string {
  return [origin, ...segments].join('/')
}

function segmentsOf({ pathname }: URL): string[] {
  return pathname.split('/').filter((segment) => segment !== '')
}
