// The recordings of file types and of odd file names.

import { asList, asObject } from '../harness/recordings.ts'
import type { Fields, Recording } from '../harness/recordings.ts'
import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'
import { file, incoming, upload, urls } from './post-files.ts'
import { sampleBytes } from './sample-file.ts'

const oddNames = [
  ...['umlauts, raw UTF-8', 'quotes escaped with backslash', 'quotes as %22', 'newline as %0A', 'emoji'],
  ...['filename* (RFC 5987)', 'only filename*', 'raw newline in the name', 'path in the name', '300 characters'],
  ...['no extension', 'empty name'],
].map((name) => `file name: ${name}`)

/** Posts one file of every recorded type and notes what Chatwoot made of it. */
async function typeTable(bench: ReplayBench, recording: Recording): Promise<unknown> {
  const table: Fields[] = []
  for (const row of asList(recording['table']).map(asObject)) {
    await bench.helpdesk.settled()
    bench.catcher.caught.clear()
    table.push(await postOfType(bench, row))
  }
  return { table }
}

async function postOfType(bench: ReplayBench, row: Fields): Promise<Fields> {
  const { file: name, declared, file_size: size } = row
  const part = file(String(name), typeof declared === 'string' ? declared : null, Number(size))
  const { status, body } = await upload(bench, [incoming, part])
  await bench.helpdesk.settled()
  const attachment = asObject(asList(body['attachments'])[0])
  const caught = bench.catcher.caught.entries
  const hook = asObject(asList(caught.find(({ event }) => event === 'message_created')?.body['attachments'])[0])
  urls[String(name)] = String(attachment['data_url'])
  const shown = (one: Fields) => ({
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

export const typeAndNameFacts: NonNullable<Plan['facts']> = {
  'file_type mapping by declared Content-Type': typeTable,
  ...Object.fromEntries(oddNames.map((name) => [name, oddName])),
}
