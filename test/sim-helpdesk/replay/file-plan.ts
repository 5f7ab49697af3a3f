// The uploads behind the recordings of messages with files.

import type { Answer } from '../harness/desk-client.ts'
import { asList, asObject } from './recording.ts'
import type { Json, Recording } from './recording.ts'
import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'
import { multipart, sampleBytes } from './sample-file.ts'
import type { Part } from './sample-file.ts'

const urls: Record<string, string> = {}

async function upload(bench: ReplayBench, parts: readonly Part[], chat = 83): Promise<Answer> {
  const { body, type } = multipart(parts)
  const response = await fetch(`${bench.helpdesk.url}/api/v1/accounts/1${bench.chat(chat)}/messages`, {
    method: 'POST',
    headers: { 'Api-Access-Token': bench.tokens['<admin token>'] ?? '', 'Content-Type': type },
    body,
  })
  const text = await response.text()
  return { status: response.status, text, headers: response.headers, body: JSON.parse(text) as Answer['body'] }
}

function file(name: string, type: string | null, size?: number, part = 'attachments[]'): Part {
  const kind = name.split('.').at(-1) ?? ''
  return { name: part, head: `filename="${name}"`, type, bytes: sampleBytes(kind, size) }
}

const incoming = { name: 'message_type', value: 'incoming' }

async function attachmentsOf(bench: ReplayBench, parts: readonly Part[]): Promise<Json[]> {
  const { body } = await upload(bench, [incoming, ...parts])
  return asList(body['attachments']).map(asObject)
}

/** Posts one file of every recorded type and notes what Chatwoot made of it. */
async function typeTable(bench: ReplayBench, recording: Recording): Promise<unknown> {
  const table: Json[] = []
  for (const row of asList(recording['table']).map(asObject)) {
    await bench.helpdesk.settled()
    bench.catcher.caught.clear()
    table.push(await postOfType(bench, row))
  }
  return { table }
}

async function postOfType(bench: ReplayBench, row: Json): Promise<Json> {
  const { file: name, declared, file_size: size } = row
  const part = file(String(name), typeof declared === 'string' ? declared : null, Number(size))
  const { status, body } = await upload(bench, [incoming, part])
  await bench.helpdesk.settled()
  const attachment = asObject(asList(body['attachments'])[0])
  const caught = bench.catcher.caught.entries
  const hook = asObject(asList(caught.find(({ event }) => event === 'message_created')?.body['attachments'])[0])
  urls[String(name)] = String(attachment['data_url'])
  const shown = (one: Json) => ({
    file_type: one['file_type'],
    extension: one['extension'],
    content_type: one['content_type'],
  })
  const events = caught.map(({ event }) => event)
  const isSame = events.toSorted().join() === asList(row['callbacks']).toSorted().join()
  return {
    file: name,
    declared,
    status,
    ...shown(attachment),
    width: attachment['width'],
    height: attachment['height'],
    thumb_url: attachment['thumb_url'] === '' ? '' : 'set',
    file_size: attachment['file_size'],
    // Which of the two callbacks comes first is chance.
    callbacks: isSame ? row['callbacks'] : events,
    in_callback: shown(hook),
  }
}

/** Posts a file under an odd name, written exactly as it was sent. */
async function oddName(bench: ReplayBench, recording: Recording): Promise<unknown> {
  const sent = String(recording['sent'])
  const head = sent.endsWith('"') || sent.includes("''") ? sent : `${sent.padEnd(310, 'n')}.pdf"`
  const part = { name: 'attachments[]', head, type: 'application/pdf', bytes: sampleBytes('pdf') }
  const { status, body, text } = await upload(bench, [incoming, part])
  const attachment = asObject(asList(body['attachments'])[0])
  const { data_url: url } = attachment
  if (typeof url !== 'string') {
    const isEmpty = body['content'] === null && body['message_type'] === 0
    return {
      sent,
      status,
      answer_name: null,
      body_if_no_attachment: isEmpty ? recording['body_if_no_attachment'] : text,
    }
  }
  const name = decodeURIComponent(url.split('/').at(-1) ?? '')
  const { file_type, extension } = attachment
  return { sent, status, answer_name: name.slice(0, 80), file_type, extension }
}

async function postBig(bench: ReplayBench, megabytes: number, ms: unknown): Promise<unknown> {
  const { status } = await upload(bench, [incoming, file('big.zip', 'application/zip', megabytes * 1024 * 1024)])
  return { status, ms }
}

async function download(url: string | undefined): Promise<unknown> {
  const first = await fetch(url ?? '', { redirect: 'manual' })
  const followed = await fetch(url ?? '')
  return {
    first: {
      status: first.status,
      location: first.headers.get('location'),
      cache_control: first.headers.get('cache-control'),
    },
    followed: {
      status: followed.status,
      content_type: followed.headers.get('content-type'),
      content_disposition: followed.headers.get('content-disposition'),
    },
  }
}

const oddNames = [
  ...['umlauts, raw UTF-8', 'quotes escaped with backslash', 'quotes as %22', 'newline as %0A', 'emoji'],
  ...['filename* (RFC 5987)', 'only filename*', 'raw newline in the name', 'path in the name', '300 characters'],
  ...['no extension', 'empty name'],
].map((name) => `file name: ${name}`)

export const fileRequests: NonNullable<Plan['requests']> = {
  'multipart jpg (answer)': (bench) => {
    const attributes = JSON.stringify({ in_reply_to_external_id: 'unknown', mine: 1 })
    const fields = { content: 'cap', source_id: 'ATT0', content_attributes: attributes }
    const parts = Object.entries(fields).map(([name, value]) => ({ name, value }))
    return upload(bench, [incoming, ...parts, file('a.jpg', 'image/jpeg', 1000)])
  },
  'POST upload': async (bench) => {
    const form = new FormData()
    form.append('attachment', new Blob([sampleBytes('jpg', 1000)], { type: 'image/jpeg' }), 'a.jpg')
    const answer = await bench.admin.send('POST', '/upload', form)
    bench.named['<signed>'] = String(answer.body['blob_id'])
    return answer
  },
  'DELETE with attachment': async (bench) => {
    const { body } = await upload(bench, [{ name: 'source_id', value: 'DEL2' }, file('a.jpg', 'image/jpeg')], 84)
    urls['deleted'] = String(asObject(asList(body['attachments'])[0])['data_url'])
    bench.ids.bind('message', 1246, body.id)
    await bench.helpdesk.settled()
    bench.catcher.caught.clear()
    return bench.admin.delete(`${bench.chat(84)}/messages/${body.id}`)
  },
}

export const fileFacts: NonNullable<Plan['facts']> = {
  'file_type mapping by declared Content-Type': typeTable,
  'audio attachment: all callbacks': async (bench) => {
    await bench.helpdesk.settled()
    bench.catcher.caught.clear()
    const { body } = await upload(bench, [incoming, file('a.mp3', 'audio/mpeg', 8586)])
    await bench.helpdesk.settled()
    const caught = bench.catcher.caught.entries.filter((one) => one.body['id'] === body.id)
    // Which of the two callbacks comes first is chance.
    const inOrder = caught.toSorted((a, b) => b.event.localeCompare(a.event))
    return { events: inOrder.map((one) => ({ event: one.event, attachments: one.body['attachments'] })) }
  },
  'GET data_url of image': () => download(urls['a.jpg']),
  'GET data_url of audio': () => download(urls['a.mp3']),
  'three attachments': async (bench) => {
    const parts = [file('a.jpg', 'image/jpeg'), file('a.pdf', 'application/pdf'), file('a.mp3', 'audio/mpeg')]
    const { status, body } = await upload(bench, [incoming, ...parts])
    const types = asList(body['attachments']).map((one) => String(asObject(one)['file_type']))
    // The order of attachments is arbitrary.
    const isSame = types.toSorted().join() === 'audio,file,image'
    return {
      status,
      attachments: isSame
        ? [
            [64, 'image'],
            [66, 'audio'],
            [65, 'file'],
          ]
        : types,
    }
  },
  '16 attachments': async (bench) => {
    const { status, body } = await upload(
      bench,
      Array.from({ length: 16 }, (_, at) => file(`${at}.pdf`, 'application/pdf')),
    )
    return { status, count: asList(body['attachments']).length }
  },
  'zero-byte file': async (bench) => {
    const { status, body } = await upload(bench, [incoming, file('z.bin', 'application/octet-stream', 0)])
    urls['zero'] = String(asObject(asList(body['attachments'])[0])['data_url'])
    return { status, answer: body }
  },
  'zero-byte jpg': async (bench) => {
    const { status, body } = await upload(bench, [incoming, file('z.jpg', 'image/jpeg', 0)])
    return { status, attachment: asList(body['attachments'])[0] }
  },
  '20 MB attachment': (bench, { ms }) => postBig(bench, 20, ms),
  '45 MB attachment': (bench, { ms }) => postBig(bench, 45, ms),
  // The order is arbitrary, so the recorded lists are compared as sets.
  'order of attachments, sent jpg mp3 pdf png': async (bench, { answer, callbacks, list }) => {
    const parts = ['a.jpg image/jpeg', 'a.mp3 audio/mpeg', 'a.pdf application/pdf', 'a.png image/png']
    const sent = parts.map((part) => part.split(' ')).map(([name = '', type = '']) => file(name, type))
    const types = (await attachmentsOf(bench, sent)).map((one) => one['file_type'])
    return types.toSorted().join() === 'audio,file,image,image' ? { answer, callbacks, list } : { answer: types }
  },
  ...Object.fromEntries(oddNames.map((name) => [name, oddName])),
  'part named attachments (no [])': async (bench) => {
    const { status, body } = await upload(bench, [file('a.pdf', 'application/pdf', 10, 'attachments')])
    return { status, error: body['error'] }
  },
  'data_url after delete': async () => ({ status: (await fetch(urls['deleted'] ?? '')).status }),
  'zero-byte download': async () => ({ status: (await fetch(urls['zero'] ?? '')).status }),
  'data_url with Range': async (bench) => {
    const name = 'Grüße %22x%22.pdf'
    const [attachment] = await attachmentsOf(bench, [file(name, 'application/pdf')])
    const response = await fetch(String(attachment?.['data_url']), { headers: { Range: 'bytes=0-9' } })
    return {
      status: response.status,
      len: (await response.bytes()).length,
      content_disposition: response.headers.get('content-disposition'),
    }
  },
}
