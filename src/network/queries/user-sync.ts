// Asks the server about users: whether they are on the network, and which LID and which devices they have.

import type { Jid } from '../../core/ids.ts'
import { childrenOf } from '../library/nodes.ts'
import type { BinaryNode } from '../library/library.ts'

/** Asks the server. Rejects when the server does not answer or answers with an error. */
export type Ask = (attrs: { xmlns: string; type: string }, content: BinaryNode) => Promise<BinaryNode>

type Question = {
  context: 'message' | 'interactive'
  /** The first subject is the one that the caller needs. An error about it fails the whole question. */
  about: readonly [BinaryNode, ...BinaryNode[]]
  users: readonly BinaryNode[]
}
/** The answers about one user, by the tag of the subject. */
export type UserAnswer = { jid: Jid; about: ReadonlyMap<string, BinaryNode> }

let questions = 0

export async function askAboutUsers(ask: Ask, { context, about, users }: Question): Promise<UserAnswer[]> {
  const attrs = { context, mode: 'query', sid: `${process.pid}.${(questions += 1)}`, last: 'true', index: '0' }
  const content = [
    { tag: 'query', attrs: {}, content: [...about] },
    { tag: 'list', attrs: {}, content: [...users] },
  ]
  const answer = await ask({ xmlns: 'usync', type: 'get' }, { tag: 'usync', attrs, content })
  const sync = childrenOf(answer, 'usync').flatMap((usync) => childrenOf(usync))
  const failed = sync.filter(({ tag }) => tag === 'result').flatMap((result) => childrenOf(result, about[0].tag))
  const [error] = failed.flatMap((node) => childrenOf(node, 'error'))
  if (error) throw new Error(`the network could not answer about ${about[0].tag} (code ${error.attrs['code'] ?? '?'})`)
  const lists = sync.filter(({ tag }) => tag === 'list')
  return lists.flatMap((list) => childrenOf(list, 'user')).map(answerOf)
}

function answerOf(user: BinaryNode): UserAnswer {
  return { jid: user.attrs['jid'] ?? '', about: new Map(childrenOf(user).map((node) => [node.tag, node])) }
}
