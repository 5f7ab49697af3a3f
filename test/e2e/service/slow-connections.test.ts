import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'node:test'
import { newLocation } from '../../harness/databases.ts'
import { requestRaw } from '../../harness/raw-request.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { SlowConnections } from '../../harness/slow-connections.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const descriptors = 1024
const connections = 1100
const underLimit = ['sh', '-c', `ulimit -n ${descriptors} && exec "$@"`, 'sh']

const slowHeaders = 'GET /api/health HTTP/1.1\r\nHost: x\r\nX-Slow: '
const slowBody =
  `POST /api/instances/a/webhook HTTP/1.1\r\nHost: x\r\nX-Service-Signature: sha256=${'0'.repeat(64)}\r\n` +
  'Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{'

// /proc tells how many descriptors a process has.
const isLinux = process.platform === 'linux'

test(
  'more slow connections than descriptors leave health answering, and all of them are freed',
  { skip: !isLinux },
  async () => {
    await using place = await newLocation('sqlite')
    const environment = { DATABASE_URL: place.url, SERVICE_API_TOKEN: 't', HOST: '127.0.0.1', WEBHOOK_HMAC_SECRET: 's' }
    await using service = new ServiceProcess(environment, undefined, undefined, underLimit)
    const url = await service.ready()
    const open = () => readdirSync(`/proc/${service.pid}/fd`).length
    const atRest = open()
    using slow = await SlowConnections.open(
      url,
      Array.from({ length: connections }, (_, index) => (index % 2 === 0 ? slowHeaders : slowBody)),
    )
    assert.equal(slow.opened, connections)
    for (let asked = 0; asked < 5; asked++) {
      const { status } = await requestRaw(url, { path: '/api/health' })
      assert.equal(status, 200)
    }
    const left = () => open() - atRest
    await waitUntil('the descriptors are free', () => left() < 10, { instead: left })
  },
)

test('a client that never reads its answers is cut off', { skip: !isLinux }, async () => {
  await using place = await newLocation('sqlite')
  await using service = new ServiceProcess({ DATABASE_URL: place.url })
  const url = await service.ready()
  const open = () => readdirSync(`/proc/${service.pid}/fd`).length
  const atRest = open()
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname })
  socket.on('error', () => undefined).pause()
  socket.write('GET /static/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200))
  await once(socket, 'connect')
  // Connections are accepted in their order. So the service has accepted the first one, and may have closed it already. On a busy
  // machine a request may run out of time behind the 200 answers.
  const isAnswered = async () => (await requestRaw(url, { path: '/api/health' })).status === 200
  await waitUntil('another client is answered', isAnswered)
  await waitUntil('the connection is closed', () => open() <= atRest)
  socket.resume()
  await waitUntil('the client hears of it', () => socket.destroyed)
})
