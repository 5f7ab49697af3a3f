import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import { parseMultipart } from '../../../sim/helpdesk/http/parse-multipart.ts'
import { UploadedFile } from '../../../sim/helpdesk/desk/uploaded-file.ts'
import { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'
import { DeskClient, openChat } from '../../../test/sim-helpdesk/harness/desk-client.ts'
import { LoopbackServer } from '../../../test/harness/loopback-server.ts'
import { Egress } from './egress.ts'
import { multipart } from './multipart.ts'
import type { Part } from './multipart.ts'
import { privateAllowed } from './policy.ts'

const megabyte = 1024 * 1024

async function written(parts: readonly Part[]): Promise<{ bytes: Buffer; type: string; length: number | undefined }> {
  const { body, contentType, bodyBytes } = multipart(parts)
  return { bytes: Buffer.concat((await body.toArray()) as Buffer[]), type: contentType, length: bodyBytes }
}

test('fields and files arrive as they were given, and the length is the one announced', async () => {
  const content = Buffer.from([0, 13, 10, 45, 45, 255])
  const parts: Part[] = [
    { name: 'content', value: 'Grüße 👍\r\n--boundary' },
    { name: 'content_attributes[in_reply_to]', value: '7' },
    { name: 'attachments[]', filename: 'a.bin', type: 'image/png', content },
    {
      name: 'attachments[]',
      filename: 'b.bin',
      type: 'text/plain',
      content: Readable.from([content, content]),
      bytes: 12,
    },
  ]
  const { bytes, type, length } = await written(parts)
  assert.equal(length, bytes.length)
  const [text, reply, first, second] = parseMultipart(type, bytes)
  assert.deepEqual(text, ['content', 'Grüße 👍\r\n--boundary'])
  assert.deepEqual(reply, ['content_attributes[in_reply_to]', '7'])
  assert.ok(first?.[1] instanceof UploadedFile && second?.[1] instanceof UploadedFile)
  assert.deepEqual([first[1].contentType, Buffer.from(first[1].bytes)], ['image/png', content])
  assert.deepEqual(Buffer.from(second[1].bytes), Buffer.concat([content, content]))
})

/** The name that Rack, the server of Chatwoot, reads: it turns percent forms back if each percent sign begins one. */
function nameAtRack(line: string): string | undefined {
  const name = /; filename="([^"]*)"$/.exec(line)?.[1]
  const signs = name?.match(/%.?.?/g) ?? []
  return signs.every((sign) => /^%[0-9a-f]{2}$/i.test(sign)) ? decodeURIComponent(name ?? '') : name
}

test('a file name is sent as browsers send it, in UTF-8 and without a second form', async () => {
  const rows: [name: string, sent: string][] = [
    ['Relatório final (1).pdf', 'Relatório final (1).pdf'],
    ['发票 👍.png', '发票 👍.png'],
    ['with "quotes".txt', 'with %22quotes%22.txt'],
    ['two\r\nlines.txt', 'two%0D%0Alines.txt'],
    ['100%.txt', '100%.txt'],
    ['50%20off.txt', '50%2520off.txt'],
    ['', 'file'],
    [' \n', 'file'],
  ]
  for (const [filename, sent] of rows) {
    const { bytes } = await written([{ name: 'f', filename, type: 'text/plain', content: Buffer.from('x') }])
    const line = /^Content-Disposition:.*$/m.exec(bytes.toString())?.[0]
    assert.equal(line, `Content-Disposition: form-data; name="f"; filename="${sent}"`)
  }
})

test('every file name arrives, and none breaks the form', async () => {
  const names = [
    ...['plain name.pdf', 'Müller & Söhne.pdf', '发票 👍.png', 'with "quotes".txt', "it's (1) *new*.txt", 'a\\b.txt'],
    ...['50%20off.txt', '100%.txt', 'a\r\nContent-Type: text/html\r\n\r\n<b>', 'x"; name="message_type', 'a;b=c.txt'],
    ...['Relatório final (1).pdf', '100% "done".txt', 'ends in \\', '%', '%41%zz'],
  ]
  for (const filename of names) {
    const file = { name: 'attachments[]', filename, type: 'text/plain', content: Buffer.from('x') }
    const { bytes, type } = await written([file, { name: 'content', value: 'y' }])
    const [received, field, ...more] = parseMultipart(type, bytes)
    assert.ok(received?.[1] instanceof UploadedFile, filename)
    assert.equal(received[0], 'attachments[]')
    assert.equal(Buffer.from(received[1].bytes).toString(), 'x')
    assert.deepEqual([field, more], [['content', 'y'], []])
    const line = /^Content-Disposition:.*$/m.exec(bytes.toString())?.[0] ?? ''
    assert.equal(nameAtRack(line), filename)
  }
  const odd = await written([{ name: 'f', filename: '', type: 'a\r\nb: c', content: Buffer.from('x') }])
  const [only] = parseMultipart(odd.type, odd.bytes)
  assert.ok(only?.[1] instanceof UploadedFile)
  assert.deepEqual([only[1].filename, only[1].contentType], ['file', 'application/octet-stream'])
})

test('a source that fails, even before its turn, ends the form and the other sources', async () => {
  const waiting = new PassThrough()
  const failing = new PassThrough()
  const file = (content: Readable) => ({ name: 'f', filename: 'f', type: 'text/plain', content })
  const { body } = multipart([file(waiting), file(failing)])
  const reading = body.toArray()
  failing.destroy(new Error('the source broke'))
  await assert.rejects(reading, /the source broke/)
  assert.ok(waiting.destroyed)
})

test('20 MB pass through without staying in memory', async () => {
  const chunk = Buffer.alloc(64 * 1024, 'q')
  const hash = createHash('sha256')
  let received = 0
  let announced: string | undefined
  const listener: RequestListener = (request, response) => {
    announced = request.headers['content-length']
    request.on('data', (data: Buffer) => {
      received += data.length
      hash.update(data)
    })
    request.on('end', () => response.end(hash.copy().digest('hex')))
  }
  await using server = await LoopbackServer.start(listener)
  await using egress = new Egress({ policy: privateAllowed })
  let given = 0
  let furthestAhead = 0
  const source = Readable.from(
    (function* () {
      for (; given < 20 * megabyte; given += chunk.length) {
        furthestAhead = Math.max(furthestAhead, given - received)
        yield chunk
      }
    })(),
    { objectMode: false },
  )
  const file = { name: 'f', filename: 'big.bin', type: 'video/mp4', content: source, bytes: 20 * megabyte }
  const { contentType, ...body } = multipart([file])
  const headers = { 'content-type': contentType }
  const answer = await egress.request({ method: 'POST', url: server.url(), headers, ...body, timeoutMs: 15_000 })
  assert.equal(answer.status, 200)
  assert.equal(received, body.bodyBytes)
  assert.equal(announced, String(body.bodyBytes))
  assert.ok(furthestAhead < 8 * megabyte, `${furthestAhead} bytes were on their way`)
})

test('the simulated helpdesk takes a message with files, of known and unknown length', async () => {
  await using helpdesk = await SimHelpdesk.start()
  const { url, api_token: token } = helpdesk.facts
  const chat = await openChat(new DeskClient(helpdesk), '5511999999999')
  await using egress = new Egress({ policy: privateAllowed })
  const voice = Buffer.alloc(20 * megabyte, 7)
  for (const bytes of [voice.length, undefined]) {
    const { contentType, ...body } = multipart([
      { name: 'content', value: 'Grüße' },
      { name: 'message_type', value: 'incoming' },
      { name: 'content_attributes', value: JSON.stringify({ mine: true }) },
      {
        ...{ name: 'attachments[]', filename: 'Sprachnachricht – 1.ogg', type: 'audio/ogg; codecs=opus' },
        ...{ content: Readable.from([voice], { objectMode: false }), ...(bytes === undefined ? {} : { bytes }) },
      },
    ])
    const answer = await egress.request({
      method: 'POST',
      url: `${url}/api/v1/accounts/1/conversations/${chat}/messages`,
      headers: { 'content-type': contentType, 'api-access-token': token },
      ...body,
      timeoutMs: 15_000,
    })
    assert.equal(answer.status, 200, answer.text())
    const message = answer.json() as { content: string; content_attributes: object; attachments: object[] }
    assert.equal(message.content, 'Grüße')
    assert.deepEqual(message.content_attributes, { mine: true })
    const [attachment] = message.attachments as { file_type: string; file_size: number; data_url: string }[]
    assert.deepEqual([attachment?.file_type, attachment?.file_size], ['audio', voice.length])
    const { pathname } = new URL(attachment?.data_url ?? '')
    assert.ok(decodeURIComponent(pathname).endsWith('Sprachnachricht – 1.ogg'))
  }
})
