// Finds what went wrong with the messages of a run, in either direction: from customers to the helpdesk or back.

/** A message of a chat, as its sender sees it. */
export type WrittenMessage = {
  id: string
  /** The helpdesk shows the message as failed. */
  isFailed?: boolean
  /** The agent pressed Retry, so the message may come after later ones. */
  isRetried?: boolean
}

/** Both lists are in the order in which the messages were written and received. */
export type ChatTruth = { written: readonly WrittenMessage[]; received: readonly string[] }

/** The ids of the messages of each kind of mistake. */
export type Mistakes = {
  /** Not received. */
  lost: string[]
  doubled: string[]
  /** Received by another person than the one to whom it was written. */
  misplaced: string[]
  /** Received after a message that was written later. */
  outOfOrder: string[]
  /** Received, but shown as failed. */
  falselyFailed: string[]
  /** Not received, but not shown as failed either. */
  falselySent: string[]
}

/** Whether a message may come after these, which were written later. */
type Excuse = (late: string, overtakenBy: readonly string[]) => boolean

export const noMistakes: Mistakes = {
  lost: [],
  doubled: [],
  misplaced: [],
  outOfOrder: [],
  falselyFailed: [],
  falselySent: [],
}

export function mistakesIn(chats: Iterable<ChatTruth>, isExcused: Excuse = () => false): Mistakes {
  const each = [...chats].map((chat) => mistakesOf(chat, isExcused))
  const all = (kind: keyof Mistakes) => each.flatMap((mistakes) => mistakes[kind])
  return {
    lost: all('lost'),
    doubled: all('doubled'),
    misplaced: all('misplaced'),
    outOfOrder: all('outOfOrder'),
    falselyFailed: all('falselyFailed'),
    falselySent: all('falselySent'),
  }
}

function mistakesOf(chat: ChatTruth, isExcused: Excuse): Mistakes {
  const { written, received } = chat
  const arrived = new Set(received)
  const known = new Set(written.map(({ id }) => id))
  const lost = written.filter(({ id }) => !arrived.has(id))
  const idsOf = (messages: readonly WrittenMessage[]) => messages.map(({ id }) => id)
  return {
    lost: idsOf(lost),
    doubled: repeatedIn(received),
    misplaced: [...arrived].filter((id) => !known.has(id)),
    outOfOrder: lateIn(chat)
      .filter(({ late, overtakenBy }) => !isExcused(late, overtakenBy))
      .map(({ late }) => late),
    falselyFailed: idsOf(written.filter(({ id, isFailed }) => isFailed === true && arrived.has(id))),
    falselySent: idsOf(lost.filter(({ isFailed }) => isFailed !== true)),
  }
}

/** The messages that came after later ones. A message that was retried is neither late nor does it overtake another. */
function lateIn({ written, received }: ChatTruth): { late: string; overtakenBy: string[] }[] {
  const places = new Map(
    written.filter(({ isRetried }) => isRetried !== true).map(({ id }, place) => [id, place] as const),
  )
  const inOrder = [...new Set(received)].filter((id) => places.has(id))
  const placeOf = (id: string) => places.get(id) ?? 0
  let newest = -1
  return inOrder.flatMap((late, at) => {
    const place = placeOf(late)
    if (place > newest) {
      newest = place
      return []
    }
    return [{ late, overtakenBy: inOrder.slice(0, at).filter((each) => placeOf(each) > place) }]
  })
}

/** Each id that was there before, as often as it comes again. */
export function repeatedIn(ids: readonly string[]): string[] {
  const seen = new Set<string>()
  return ids.filter((id) => seen.size === seen.add(id).size)
}
