// The other side of the egress benchmark: takes a JSON body and answers like a helpdesk that stored a message.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveParent } from './child.ts'

const reply = JSON.stringify({ id: 4711, content: 'x'.repeat(300), message_type: 0, attachments: [] })

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'bench' }).end(reply)
  })
})

const desk = {
  listen: () =>
    new Promise<string>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/messages`)
      })
    }),
}

export type EgressServerDesk = typeof desk

serveParent(desk)
