// Creates the agent for a proxy, or throws. Nothing ever connects directly when a proxy is set.

import type { Agent } from 'node:https'
import { HttpsProxyAgent } from 'https-proxy-agent'
import { SocksProxyAgent } from 'socks-proxy-agent'

const agents: Record<string, (url: string) => HttpsProxyAgent<string> | SocksProxyAgent> = {
  'http:': (url) => new HttpsProxyAgent(url),
  'https:': (url) => new HttpsProxyAgent(url),
  // With socks5h the proxy resolves host names.
  'socks5:': (url) => new SocksProxyAgent(url.replace(/^socks5:/, 'socks5h:')),
}

export function createProxyAgent(proxy: string): Agent {
  const make = URL.canParse(proxy) ? agents[new URL(proxy).protocol] : undefined
  if (!make) throw new Error('SERVICE_NETWORK_PROXY is not a proxy this service can use: http, https or socks5')
  return make(proxy)
}
