// Questions about users: who is on the network, under which LID, with which devices.

import { nodesOf } from '../library/nodes.ts'
import type { BinaryNode } from '../library/library.ts'

/** Asks the server; rejects when it does not answer or answers with an error. */
export type Ask = (attrs: { xmlns: string; type: string }, content: BinaryNode) => Promise<BinaryNode>
/** What is asked about first is what the question is for: without it there is no answer. */
type Question = {
  context: 'message' | 'interactive'
  about: readonly [BinaryNode, ...BinaryNode[]]
  users: readonly BinaryNode[]
}
/** What was said of one user, by the name of the question. */
export type UserAnswer = { jid: string; said: ReadonlyMap<string, BinaryNode> }

let asked = 0

export async function askAboutUsers(ask: Ask, { context, about, users }: Question): Promise<UserAnswer[]> {
  const attrs = { context, mode: 'query', sid: `${process.pid}.${(asked += 1)}`, last: 'true', index: '0' }
  const content = [
    { tag: 'query', attrs: {}, content: [...about] },
    { tag: 'list', attrs: {}, content: [...users] },
  ]
  const answer = await ask({ xmlns: 'usync', type: 'get' }, { tag: 'usync', attrs, content })
  const sync = nodesOf(answer, 'usync').flatMap((usync) => nodesOf(usync))
  const failed = sync.filter(({ tag }) => tag === 'result').flatMap((result) => nodesOf(result, about[0].tag))
  const [error] = failed.flatMap((each) => nodesOf(each, 'error'))
  if (error) throw new Error(`the network could not answer about ${about[0].tag} (code ${error.attrs['code'] ?? '?'})`)
  const list = sync.filter(({ tag }) => tag === 'list')
  return list.flatMap((each) => nodesOf(each, 'user')).map(answerOf)
}

function answerOf(user: BinaryNode): UserAnswer {
  return { jid: user.attrs['jid'] ?? '', said: new Map(nodesOf(user).map((node) => [node.tag, node])) }
}
