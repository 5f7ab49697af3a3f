// The uploads behind the recordings of messages with files.

import { asList, asObject } from '../harness/recordings.ts'
import { typeAndNameFacts } from './file-facts.ts'
import { attachmentsOf, file, incoming, upload, urls } from './post-files.ts'
import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'
import { sampleBytes } from './sample-file.ts'

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
  ...typeAndNameFacts,
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
