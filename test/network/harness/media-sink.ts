// A media host in a process of its own that takes everything and keeps nothing.

import { createHash } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

const { KEY: key = '', CERT: cert = '' } = process.env
const server = createServer({ key, cert }, (request, response) => {
  const hash = createHash('sha256')
  request.on('data', (chunk: Buffer) => hash.update(chunk))
  request.on('end', () => {
    const isIt = request.url?.includes(`/${hash.digest('base64url')}?`) ?? false
    response.writeHead(isIt ? 200 : 400).end(JSON.stringify({ url: 'https://here/there', direct_path: '/there' }))
  })
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit(0))
