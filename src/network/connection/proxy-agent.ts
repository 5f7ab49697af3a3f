// Creates what goes through a proxy, or throws. Nothing ever connects directly when a proxy is set.

import type { Agent } from 'node:https'
import { HttpsProxyAgent } from 'https-proxy-agent'
import { SocksProxyAgent } from 'socks-proxy-agent'
import { proxyHost } from '../../core/network-proxy.ts'
import { createProxiedDispatcher } from '../../lib/egress/proxied-dispatcher.ts'

/** One proxy serves connections, uploads and the requests that the library makes. `host` is for reasons. */
export type Proxied = { agent: Agent; dispatcher: ReturnType<typeof createProxiedDispatcher>; host: string }

const agents: Record<string, (url: string) => HttpsProxyAgent<string> | SocksProxyAgent> = {
  'http:': (url) => new HttpsProxyAgent(url),
  'https:': (url) => new HttpsProxyAgent(url),
  // With socks5h the proxy resolves host names.
  'socks5:': (url) => {
    const agent = new SocksProxyAgent(url.replace(/^socks5:/, 'socks5h:'))
    // The agent would look the address up with its brackets, as a name.
    agent.proxy.host = (agent.proxy.host ?? '').replace(/^\[(.*)\]$/, '$1')
    return agent
  },
}

/** The caller destroys the dispatcher at the end. */
export function createProxied(proxy: string): Proxied {
  const agent = createProxyAgent(proxy)
  return { agent, dispatcher: createProxiedDispatcher(proxy), host: proxyHost(proxy) }
}

export function createProxyAgent(proxy: string): Agent {
  const make = URL.canParse(proxy) ? agents[new URL(proxy).protocol] : undefined
  if (!make) throw new Error('this proxy cannot be used: its URL must begin with http, https or socks5')
  return make(proxy)
}
