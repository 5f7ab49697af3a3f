// The way through a proxy. There is no way around it: whoever asks for a proxy gets one or an error.

import type { Agent } from 'node:https'
import { HttpsProxyAgent } from 'https-proxy-agent'
import { SocksProxyAgent } from 'socks-proxy-agent'

const agents: Record<string, (url: string) => HttpsProxyAgent<string> | SocksProxyAgent> = {
  'http:': (url) => new HttpsProxyAgent(url),
  'https:': (url) => new HttpsProxyAgent(url),
  // Names are resolved by the proxy, not here.
  'socks5:': (url) => new SocksProxyAgent(url.replace(/^socks5:/, 'socks5h:')),
}

export function createProxyAgent(proxy: string): Agent {
  const make = URL.canParse(proxy) ? agents[new URL(proxy).protocol] : undefined
  if (!make) throw new Error('SERVICE_NETWORK_PROXY is not a proxy this service can use: http, https or socks5')
  return make(proxy)
}
