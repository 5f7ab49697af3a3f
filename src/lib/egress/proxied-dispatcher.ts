// Sends fetch through a proxy. When the proxy cannot be used, the request fails; it never goes around the proxy.

import { SocksClient } from 'socks'
import type { SocksProxy } from 'socks'
import { Agent, buildConnector, ProxyAgent } from 'undici'
import type { Dispatcher } from 'undici'

const defaultSocksPort = 1080

/** For a proxy URL with the scheme http, https or socks5; the caller closes the dispatcher after the last fetch. */
export function createProxiedDispatcher(proxy: string): Dispatcher {
  const url = new URL(proxy)
  if (url.protocol === 'http:' || url.protocol === 'https:') return new ProxyAgent(proxy)
  if (url.protocol === 'socks5:') return new Agent({ connect: throughSocks(url) })
  throw new Error('this is not a proxy that can be used: http, https or socks5')
}

function throughSocks(url: URL): buildConnector.connector {
  const proxy: SocksProxy = {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port || defaultSocksPort),
    type: 5,
    ...(url.username !== '' && { userId: decodeURIComponent(url.username) }),
    ...(url.password !== '' && { password: decodeURIComponent(url.password) }),
  }
  const secure = buildConnector({})
  return (options, callback) => {
    const isSecure = options.protocol === 'https:'
    // The proxy resolves the name.
    const destination = { host: options.hostname, port: Number(options.port || (isSecure ? 443 : 80)) }
    SocksClient.createConnection({ proxy, destination, command: 'connect' }).then(
      ({ socket }) => {
        if (isSecure) secure({ ...options, httpSocket: socket }, callback)
        else callback(null, socket)
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), null)
      },
    )
  }
}
