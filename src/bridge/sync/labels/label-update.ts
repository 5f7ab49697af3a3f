// Works out what news of the network change in what is stored of its labels.

import type { Jid } from '../../../core/ids.ts'
import type { LabelChange, LabelNews } from '../../../core/sync/labels.ts'
import type { LabelledChat, LabelUpdate, StoredLabel } from '../../../storage/stores/people/label-store.ts'
import { newTitle } from './label-titles.ts'

export type KnownLabels = { labels: readonly StoredLabel[]; chats: readonly LabelledChat[] }

/** `affected` are the addresses of the chats whose labels are others now, or are called otherwise. */
export type WorkedOut = { update: LabelUpdate; affected: ReadonlySet<Jid> }

/** `known.chats` has at least the chats with labels that the news name or change. */
export function workOut(known: KnownLabels, { changes, isWhole }: LabelNews): WorkedOut {
  const labels = changedLabels(known.labels, changes, isWhole)
  const gone = new Set(labels.flatMap(({ id, title }) => (title === null ? [id] : [])))
  const before = new Map(known.chats.map((each) => [keyOf(each), each]))
  const after = new Map(isWhole ? [] : before)
  for (const change of changes) {
    if (change.kind !== 'chat') continue
    const each = { jid: change.chat, labelId: change.labelId }
    if (change.isLabelled) after.set(keyOf(each), each)
    else after.delete(keyOf(each))
  }
  for (const [key, { labelId }] of after) if (gone.has(labelId)) after.delete(key)
  const labelled = [...after.values()].filter((each) => isWhole || !before.has(keyOf(each)))
  const unlabelled = [...before.values()].filter((each) => !after.has(keyOf(each)))
  const renamed = new Set(labels.map(({ id }) => id))
  const others = [...after.values()].filter((each) => renamed.has(each.labelId) || !before.has(keyOf(each)))
  const affected = new Set([...others, ...unlabelled].map(({ jid }) => jid))
  return { update: { labels, labelled, unlabelled, isWhole }, affected }
}

/** The labels that are new, renamed or deleted. */
function changedLabels(
  known: readonly StoredLabel[],
  changes: readonly LabelChange[],
  isWhole: boolean,
): StoredLabel[] {
  const names = new Map<string, string | null>(isWhole ? known.map(({ id }) => [id, null]) : [])
  for (const change of changes) {
    if (change.kind === 'named') names.set(change.labelId, change.name)
    else if (change.kind === 'deleted') names.set(change.labelId, null)
  }
  const labels = new Map(known.map((label) => [label.id, label]))
  const changed: StoredLabel[] = []
  const put = (label: StoredLabel) => {
    labels.set(label.id, label)
    changed.push(label)
  }
  // Deletions come first: a new label may get the title of a deleted one.
  for (const [id, name] of names) {
    const label = labels.get(id)
    if (name === null && label?.title !== null) put({ id, name: label?.name ?? '', title: null })
  }
  for (const [id, name] of names) {
    const label = labels.get(id)
    if (name === null || (label && label.title !== null && label.name === name)) continue
    const isTaken = (title: string) => [...labels.values()].some((each) => each.id !== id && each.title === title)
    put({ id, name, title: newTitle(name, id, isTaken) })
  }
  return changed
}

function keyOf({ jid, labelId }: LabelledChat): string {
  return `${labelId} ${jid}`
}
