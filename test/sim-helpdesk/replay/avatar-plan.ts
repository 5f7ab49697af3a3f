// The uploads and facts behind the recordings of contact pictures.

import { asObject } from '../harness/recordings.ts'
import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'
import { sampleBytes } from './sample-file.ts'

type Picture = { name: string; kind: string; type: string; size?: number }

let thumbnail = ''

async function upload(bench: ReplayBench, { name, kind, type, size = 1000 }: Picture) {
  const form = new FormData()
  form.append('avatar', new Blob([sampleBytes(kind, size)], { type }), name)
  return bench.admin.send('PATCH', `/contacts/${bench.ids.actual('contact', 47)}`, form)
}

async function read(bench: ReplayBench): Promise<string> {
  const { body } = await bench.admin.get(`/contacts/${bench.ids.actual('contact', 47)}`)
  return String(asObject(body['payload'])['thumbnail'])
}

const jpeg = { name: 'a.jpg', kind: 'jpg', type: 'image/jpeg' }

export const avatarRequests: NonNullable<Plan['requests']> = {
  'avatar upload jpg (PATCH multipart)': async (bench) => {
    const answer = await upload(bench, jpeg)
    thumbnail = String(asObject(answer.body['payload'])['thumbnail'])
    return answer
  },
  'avatar webp': (bench) => upload(bench, { name: 'a.webp', kind: 'webp', type: 'image/webp' }),
  'avatar svg': (bench) => upload(bench, { name: 'a.svg', kind: 'svg', type: 'image/svg+xml' }),
  'avatar pdf declared as jpeg': (bench) => upload(bench, { name: 'x.jpg', kind: 'pdf', type: 'image/jpeg' }),
  'avatar jpeg bytes declared as octet-stream': (bench) =>
    upload(bench, { name: 'x.bin', kind: 'jpg', type: 'application/octet-stream' }),
  'avatar 16 MB': (bench) => upload(bench, { ...jpeg, size: 16 * 1024 * 1024 }),
  'avatar zero bytes': (bench) => upload(bench, { name: 'x.jpg', kind: 'none', type: 'image/jpeg', size: 0 }),
}

export const avatarFacts: NonNullable<Plan['facts']> = {
  'thumbnail stable between two reads': async (bench) => {
    const [first, second] = [await read(bench), await read(bench)]
    return { equal: first === second, equal_to_upload_answer: first === thumbnail }
  },
  'GET thumbnail, no token': async () => {
    const response = await fetch(thumbnail, { redirect: 'manual' })
    return { status: response.status, location: response.headers.get('location') }
  },
  'thumbnail followed': async () => {
    const response = await fetch(thumbnail)
    return { status: response.status, content_type: response.headers.get('content-type') }
  },
  'upload of the same bytes again': async (bench) => {
    await upload(bench, jpeg)
    return { thumbnail_changed: (await read(bench)) !== thumbnail }
  },
  'upload of another picture': async (bench) => {
    await upload(bench, { name: 'a.png', kind: 'png', type: 'image/png' })
    const now = await read(bench)
    return { thumbnail: now, changed: now !== thumbnail }
  },
  'POST contact multipart with avatar': async (bench) => {
    const form = new FormData()
    form.append('name', 'With a picture')
    form.append('custom_attributes[a]', '1')
    form.append('avatar', new Blob([sampleBytes('jpg')], { type: 'image/jpeg' }), 'a.jpg')
    const { status, body } = await bench.admin.send('POST', '/contacts', form)
    const contact = asObject(asObject(body['payload'])['contact'])
    return {
      status,
      thumbnail: contact['thumbnail'] === '' ? '' : 'set',
      custom_attributes: contact['custom_attributes'],
    }
  },
  'thumbnail in callbacks after an agent uploaded a picture': async (bench) => {
    await upload(bench, jpeg)
    await bench.conversation(700, { inbox: 11, contact: 47, source: '5521997480716' })
    await bench.message(undefined, 700, { content: 'hi', message_type: 'incoming' })
    await bench.helpdesk.settled()
    const body = bench.seen.findLast((one) => one['event'] === 'message_created') ?? {}
    const sender = asObject(body['sender'])
    const ofConversation = asObject(asObject(asObject(body['conversation'])['meta'])['sender'])
    const shown = [sender['avatar'], sender['thumbnail'], ofConversation['thumbnail']].map(String)
    const rest = await read(bench)
    const start = 'https://chatwoot.example/rails/active_storage/representations/redirect/ey'
    const cut = (url: string) => (url.includes('/rails/active_storage/representations/redirect/') ? start : url)
    return {
      sender_avatar: cut(shown[0] ?? ''),
      sender_thumbnail: cut(shown[1] ?? ''),
      meta_thumbnail: cut(shown[2] ?? ''),
      equal_to_rest: shown.every((one) => one === rest),
    }
  },
}
