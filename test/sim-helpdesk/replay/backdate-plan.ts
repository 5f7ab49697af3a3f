// The state behind the recordings of dates that were changed in the database.

import { asList, asObject } from '../harness/recordings.ts'
import type { Fields } from '../harness/recordings.ts'
import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'

const old = 1_700_000_000
const live: number[] = []
const imported: number[] = []

/** Thirty live messages, then forty old ones, then the dates of the old ones are set back. */
async function importAfterLive(bench: ReplayBench): Promise<void> {
  await bench.inbox(30, 'contract-backdate')
  await bench.person(200, 'Old', '5521990000200', 30)
  await bench.conversation(300, { inbox: 30, contact: 200, source: '5521990000200' })
  const post = async (content: string, extra: object = {}) =>
    (await bench.message(undefined, 300, { content, message_type: 'incoming', ...extra })).body.id
  for (let at = 0; at < 30; at++) live.push(await post(`live${at}`))
  for (let at = 0; at < 40; at++) imported.push(await post(`old${at}`, { external_created_at: old + at * 60 }))
  imported.push(await post('oldfile', { external_created_at: old + 2400 }))
  for (const [at, id] of imported.entries()) bench.helpdesk.world.backdate(id, (old + at * 60) * 1000)
}

async function list(bench: ReplayBench, query: string, chat = 300): Promise<Fields[]> {
  const { body } = await bench.must(bench.admin.get(`${bench.chat(chat)}/messages${query}`))
  return asList(body['payload']).map(asObject)
}

const contents = (rows: readonly Fields[]) => rows.map((one) => one['content'])

/** Scrolls up as the dashboard does: it asks for messages before the oldest id on the screen. */
async function scroll(bench: ReplayBench, chat: number): Promise<Set<number>> {
  const reached = new Set<number>()
  for (let page = await list(bench, '', chat); page.length > 0;) {
    for (const one of page) reached.add(Number(one['id']))
    page = await list(bench, `?before=${Number(page[0]?.['id'])}`, chat)
  }
  return reached
}

export const backdatePlan: Plan = {
  before: { 'newest page after backdating': importAfterLive },
  facts: {
    'newest page after backdating': async (bench, { created_at_first }) => ({
      contents: contents(await list(bench, '')),
      created_at_first,
    }),
    'scrolling up as the dashboard does (before = id of the oldest shown)': async (bench) => {
      const reached = await scroll(bench, 300)
      return {
        reached_live: live.filter((id) => reached.has(id)).length,
        of_live: live.length,
        reached_imported: imported.filter((id) => reached.has(id)).length,
        of_imported: imported.length - 1,
        steps: 1,
      }
    },
    'after=<newest live id>': async (bench) => {
      const rows = await list(bench, `?after=${live.at(-1) ?? 0}`)
      return { n: rows.length, contents: [rows[0]?.['content'], rows.at(-1)?.['content']] }
    },
    'after=0 (100 oldest by created_at)': async (bench) => {
      const rows = await list(bench, '?after=0')
      const times = rows.map((one) => Number(one['created_at']))
      const isOrdered = times.every((time, at) => at === 0 || time >= (times[at - 1] ?? 0))
      return { n: rows.length, first: rows[0]?.['content'], last: rows.at(-1)?.['content'], order_ok: isOrdered }
    },
    'created_at through the API of a row set to 1700000000': async (bench) => {
      const [row] = await list(bench, '?after=0')
      const { created_at, content_attributes, id } = row ?? {}
      return { created_at, id_ok: id === imported[0], content_attributes }
    },
    'callbacks caused by the UPDATE statements': async (bench) => {
      await bench.helpdesk.settled()
      bench.catcher.caught.clear()
      bench.helpdesk.world.backdate(imported[0] ?? 0, old * 1000)
      await bench.helpdesk.settled()
      return { count: bench.catcher.caught.entries.length }
    },
    'later message_updated of a backdated row carries created_at': async (bench) => {
      const path = `${bench.chat(300)}/messages/${imported[0] ?? 0}`
      await bench.helpdesk.advance(61_000)
      await bench.must(bench.admin.patch(path, { status: 'delivered' }))
      await bench.helpdesk.settled()
      return { created_at: bench.catcher.events('message_updated').at(-1)?.body['created_at'] }
    },
    'unread_count: after update_last_seen, after an import, after backdating it': async (
      bench,
      { last_activity_at_without_fix },
    ) => {
      await bench.conversation(303, { inbox: 30, contact: 200, source: '5521990000200' })
      const unread = async () => Number((await bench.admin.get(bench.chat(303))).body['unread_count'])
      await bench.message(undefined, 303, { content: 'live', message_type: 'incoming' })
      await bench.must(bench.admin.post(`${bench.chat(303)}/update_last_seen`))
      const values = [await unread()]
      await bench.helpdesk.advance(1000)
      const { body } = await bench.message(undefined, 303, { content: 'old', message_type: 'incoming' })
      values.push(await unread())
      bench.helpdesk.world.backdate(body.id, old * 1000)
      values.push(await unread())
      return { values, last_activity_at_without_fix }
    },
    '260 messages posted at full speed, each 50 backdated at once': async (bench) => {
      await bench.conversation(301, { inbox: 30, contact: 200, source: '5521990000200' })
      let young: number[] = []
      let status = 0
      for (let at = 0; at < 260; at++) {
        const answer = await bench.message(undefined, 301, { content: `f${at}`, message_type: 'incoming' })
        status = answer.status
        young.push(answer.body.id)
        if (young.length < 50) continue
        for (const id of young) bench.helpdesk.world.backdate(id, old * 1000)
        young = []
      }
      return { posted: 260, last_status: status }
    },
    'safe pattern: import oldest first into a new conversation, backdate, then live': async (bench) => {
      await bench.conversation(302, { inbox: 30, contact: 200, source: '5521990000200' })
      const ids: number[] = []
      const post = async (content: string) =>
        ids.push((await bench.message(undefined, 302, { content, message_type: 'incoming' })).body.id)
      for (let at = 0; at < 40; at++) await post(`old${at}`)
      for (const [at, id] of ids.entries()) bench.helpdesk.world.backdate(id, (old + at) * 1000)
      for (let at = 0; at < 15; at++) await post(`live${at}`)
      const reached = [...(await scroll(bench, 302))]
      const ofLast = (await list(bench, '', 302)).map((one) => Number(one['id']))
      const isOrdered = ofLast.every((id, at) => at === 0 || id > (ofLast[at - 1] ?? 0))
      return { reached: reached.length, of: ids.length, order_ok: isOrdered }
    },
  },
}
