import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../../test/harness/manual-clock.ts'
import { ChatLanes } from '../../../lib/queues/chat-lanes.ts'
import { AnswerInTime } from './answer-in-time.ts'
import { MessageAcceptor } from './message-acceptor.ts'

type Deps = ConstructorParameters<typeof MessageAcceptor>[0]

test('a message of an instance that another node holds is read anew, and accepted there in the time that is left', async () => {
  const clock = new ManualClock()
  const given: number[] = []
  const asked: string[] = []
  const elsewhere: Pick<MessageAcceptor, 'send'> = {
    send: (_route, _arrival, withinMs) => {
      given.push(withinMs)
      return Promise.resolve({ kind: 'ignored', reason: 'duplicate' })
    },
  }
  const deps = {
    guards: { checkCommand: () => Promise.resolve(undefined), isTooOld: () => false },
    order: {
      inTurn: async (_route: unknown, _command: unknown, _times: unknown, accept: () => Promise<unknown>) => {
        await clock.advance(1000)
        return accept()
      },
    },
    contexts: {
      questionOf: () => Promise.resolve({}),
      recall: () => Promise.resolve({ sender: { name: 'remembered' }, unchanged: {} }),
      read: () => Promise.resolve({ sender: { name: 'read' }, hasUnread: false }),
    },
    answers: new AnswerInTime({ clock } as unknown as ConstructorParameters<typeof AnswerInTime>[0]),
    others: {
      acceptorFor: (name: string) => {
        asked.push(name)
        return elsewhere
      },
      acceptor: elsewhere,
      catchUp: () => Promise.resolve(),
    },
    lanes: new ChatLanes(),
  } as unknown as Deps
  const callback = [{}, { command: {}, age: {} }, 3000] as Parameters<MessageAcceptor['send']>
  await new MessageAcceptor(deps).send(...callback)
  assert.deepEqual([asked.at(-1), given], ['read', [2000]])
})
