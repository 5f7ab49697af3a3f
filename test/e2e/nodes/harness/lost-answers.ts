// What the outbox says of answers that did not arrive. A run of many rounds that fails need not be repeated to learn it.

import type { StageParts } from './stage-parts.ts'

/** One line for each row of these answers, which are named as in violations: the chat and the text of the agent. */
export async function outboxLinesOf(
  { database, helpdesk }: Pick<StageParts, 'database' | 'helpdesk'>,
  lost: readonly string[],
): Promise<string[]> {
  const written = new Map(helpdesk.messages().map(({ content, id }) => [content, id]))
  const answers = lost.map((entry) => {
    const text = entry.slice(entry.indexOf(': ') + 2)
    return { text, messageId: written.get(text) ?? 0 }
  })
  if (answers.length === 0) return []
  const ids = answers.map(({ messageId }) => messageId)
  const rows = await database.read(
    database.query
      .selectFrom('outbox')
      .select(['message_id', 'status', 'shown', 'reason', 'attempts'])
      .where('message_id', 'in', ids)
      .orderBy('id'),
  )
  return answers.flatMap(({ text, messageId }) => {
    const own = rows.filter((row) => row.message_id === messageId)
    if (own.length === 0) return [`${text}: message ${messageId} has no row`]
    return own.map(({ status, shown, reason, attempts }) => {
      return `${text}: message ${messageId} is ${status}, shown ${shown}, attempts ${attempts}, reason ${reason ?? 'none'}`
    })
  })
}
