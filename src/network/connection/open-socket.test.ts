import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import type { WASocket } from '../library/library.ts'
import { sendTogether } from './open-socket.ts'

test('frames that are sent in one turn leave with one write, in their order', async () => {
  const server = new WebSocketServer({ port: 0 })
  await once(server, 'listening')
  const received: string[] = []
  server.on('connection', (peer) => {
    peer.on('message', (data: Buffer) => received.push(data.toString()))
  })
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  try {
    await once(client, 'open')
    sendTogether({ ws: { socket: client } } as unknown as WASocket)
    const { _socket: connection } = client as unknown as { _socket: Socket }
    const texts = ['one', 'two', 'three']
    const sent = texts.map(
      (text) =>
        new Promise((resolve) => {
          client.send(text, resolve)
        }),
    )
    assert.equal(connection.writableCorked, 1, 'nothing has left yet')
    assert.ok(connection.writableLength > texts.join('').length)
    await Promise.all(sent)
    assert.equal(connection.writableCorked, 0)
    client.send('four')
    client.close()
    await once(client, 'close')
    assert.deepEqual(received, [...texts, 'four'])
  } finally {
    client.terminate()
    server.close()
  }
})
