// Compares the callbacks that the listener caught with the recorded ones. Their order is arbitrary, so it is not compared.

import { asList, asObject, isFields } from '../harness/recordings.ts'
import type { Fields } from '../harness/recordings.ts'
import { compare } from './compare.ts'
import type { Difference } from './compare.ts'
import type { RecordedIds, Table } from './recorded-ids.ts'
import type { ReplayBench } from './replay-bench.ts'

/** Compares the callbacks since the last comparison. */
export function compareCallbacks(bench: ReplayBench, recorded: Fields[]): Difference[] {
  const caught = bench.catcher.caught.entries.map(({ body }) => body)
  bench.catcher.caught.clear()
  const names = (list: readonly Fields[]) => list.map((one) => String(one['event'])).toSorted()
  if (names(recorded).join() !== names(caught).join()) {
    return [{ at: 'callbacks', recorded: names(recorded), got: names(caught) }]
  }
  const ours = inOrder(caught)
  return inOrder(recorded).flatMap((one, at) => compareSummary(one, ours[at] ?? {}, bench.ids))
}

/** Compares a whole recorded callback with the caught one of the same row. */
export function compareCallback(bench: ReplayBench, recorded: unknown): Difference[] {
  const wanted = asObject(recorded)
  const isWanted = (body: Fields) => {
    if (body['event'] !== wanted['event']) return false
    if (wanted['id'] === undefined) return true
    return body['id'] === bench.ids.actual(tableOfEvent(wanted), Number(wanted['id']))
  }
  const got = bench.seen.findLast(isWanted)
  return compare(wanted, got, bench.ids, tableOfEvent(wanted))
}

function inOrder(list: readonly Fields[]): Fields[] {
  return list.toSorted(
    (a, b) =>
      String(a['event']).localeCompare(String(b['event'])) ||
      Number(a['id'] ?? 0) - Number(b['id'] ?? 0) ||
      changedNames(a).join().localeCompare(changedNames(b).join()),
  )
}

function tableOfEvent(body: Fields): Table {
  return String(body['event']).startsWith('message') ? 'message' : 'conversation'
}

function changedNames(body: Fields): string[] {
  return asList(body['changed_attributes'] ?? body['changed'])
    .map((one) => (isFields(one) ? (Object.keys(one)[0] ?? '') : String(one)))
    .filter((name) => name !== 'updated_at' && name !== 'cached_label_list')
    .toSorted()
}

/** The recorder kept few fields of each callback, some under names of its own. */
function compareSummary(recorded: Fields, body: Fields, ids: RecordedIds): Difference[] {
  const conversation = asObject(body['conversation'])
  const newest = asObject(asList(conversation['messages'])[0])
  const got: Fields = {}
  for (const key of Object.keys(recorded)) got[key] = body[key]
  if ('status' in recorded && !('status' in body)) got['status'] = conversation['status']
  if ('status_in_conversation_messages' in recorded) got['status_in_conversation_messages'] = newest['status']
  if ('newest_status' in recorded) got['newest_status'] = newest['status']
  // The recorder cut long texts.
  if (String(recorded['content']).length === 200) got['content'] = String(got['content']).slice(0, 200)
  if ('content' in recorded && recorded['content'] === '') got['content'] = body['content'] ?? ''
  const { changed_attributes: changes, changed, ...rest } = recorded
  const differences = compare(rest, got, ids, tableOfEvent(recorded)).map((one) => ({
    ...one,
    at: `${String(recorded['event'])} ${String(recorded['id'])}.${one.at}`,
  }))
  if (changes === undefined && changed === undefined) return differences
  const wanted = changedNames(recorded)
  const given = changedNames(body)
  // A recorded change in full is often shortened to its most important attributes.
  const isShort = asList(changes).some(isFields)
  const isEqual = isShort ? wanted.every((name) => given.includes(name)) : wanted.join() === given.join()
  return isEqual ? differences : [...differences, { at: 'changed_attributes', recorded: wanted, got: given }]
}
