// Reads and replaces the labels of a conversation at the helpdesk.

import type { Destination, HelpdeskInbox } from '../../../core/downstream.ts'
import type { AccountTitles } from './account-titles.ts'
import { titleForm } from './label-titles.ts'
import type { LabelWrites } from './label-writes.ts'
import type { LabelChanges } from './merge-labels.ts'

type Deps = { titles: Pick<AccountTitles, 'ensure'>; writes: Pick<LabelWrites, 'begin' | 'restored' | 'settled'> }

type At = { target: { destination: Destination; helpdesk: HelpdeskInbox }; conversationId: number }

export type ShownLabels = {
  /** As the helpdesk has them. */
  raw: readonly string[]
  /** As agents have left them: without what our own last write has undone. */
  left: readonly string[]
  /** What agents have left, in the form in which titles are compared. */
  titles: ReadonlySet<string>
  /** How agents write the title. */
  nameOf: (title: string) => string
}

/** `isComplete` is false when agents would not see a label, so that it was not set. */
type Written = { titles: ReadonlySet<string>; isComplete: boolean }

export class HelpdeskLabelWriter {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Null when the conversation does not exist any more. */
  async read({ target, conversationId }: At): Promise<ShownLabels | null> {
    const raw = await target.helpdesk.labels(conversationId)
    if (!raw) return null
    const left = this.#deps.writes.restored({ destination: target.destination.key, conversationId }, raw)
    const names = new Map(left.map((title) => [comparedForm(title), title]))
    return { raw, left, titles: formsOf(left), nameOf: (title) => names.get(title) ?? title }
  }

  async write(
    { target, conversationId }: At,
    { raw, left }: ShownLabels,
    { add, remove }: LabelChanges['helpdesk'],
  ): Promise<Written> {
    const { titles, writes } = this.#deps
    const at = { destination: target.destination.key, conversationId }
    const visible: string[] = []
    for (const title of add) if (await titles.ensure(target.destination, title)) visible.push(title)
    const next = [...left.filter((title) => !remove.includes(comparedForm(title))), ...visible]
    const isChanged = new Set(next).symmetricDifference(new Set(raw)).size > 0
    const write = isChanged ? writes.begin(at, raw, next) : null
    if (write) await target.helpdesk.setLabels(conversationId, next)
    writes.settled(at, write)
    return { titles: formsOf(next), isComplete: visible.length === add.length }
  }
}

/** Labels of other forms, which only programs can set, are left alone: their form is empty. */
function comparedForm(title: string): string {
  const form = titleForm(title)
  return Array.from(form).length < 2 ? '' : form
}

function formsOf(titles: readonly string[]): ReadonlySet<string> {
  return new Set(titles.map(comparedForm).filter((form) => form !== ''))
}
