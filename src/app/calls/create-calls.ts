// Creates the parts that reject calls of customers and send the text to their callers.

import { CallRejections } from '../../bridge/calls/call-rejections.ts'
import { CallTexts, textOnceInMs } from '../../bridge/calls/call-texts.ts'
import type { TextAnswer } from '../../bridge/calls/call-texts.ts'
import { createIgnoredChats } from '../../bridge/inbound/ignored-chats.ts'
import type { DirectAnswer } from '../../bridge/outbound/accept/send-answer.ts'
import type { DirectMessages } from '../../bridge/outbound/direct/direct-messages.ts'
import type { SettingsOf } from '../../core/chosen-settings.ts'
import { heldRows } from '../../core/nodes/duties.ts'
import type { Duties } from '../../core/nodes/duties.ts'
import type { Holds } from '../../core/nodes/hold.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { Metrics } from '../../ledger/metrics.ts'
import { firstSweepMs, Ticker } from '../../lib/ticker.ts'
import type { Database } from '../../storage/database.ts'
import { RejectedCallStore } from '../../storage/stores/messages/rejected-call-store.ts'
import type { Base } from '../base.ts'

type Parts = {
  settingsOf: SettingsOf
  database: Database
  holds: Holds
  duties: Duties
  instances: Pick<InstanceRegistry, 'find'>
  metrics: Pick<Metrics, 'callRejections'>
  /** Created after this room. */
  direct: () => Pick<DirectMessages, 'send'>
}

const textsMs = 5000
const pruneMs = 3_600_000

export function createCalls({ config, clock, log, stack }: Base, parts: Parts) {
  const { settingsOf, database, holds, duties, instances, metrics, direct } = parts
  const store = new RejectedCallStore(database, holds.holdOf, holds.nodeHold)
  const text = config.inbound.rejectCallsText.trim()
  const texts = new CallTexts({
    store,
    text,
    send: async (instance, { to, text, key }) =>
      textAnswerOf(await direct().send(instance, { to, content: { type: 'text', text } }, { key })),
    clock,
    log,
  })
  const giving = new Ticker({
    name: 'call-texts',
    everyMs: textsMs,
    work: () => texts.run(heldRows(duties)),
    clock,
    log,
  })
  const rejections = stack.use(
    new CallRejections({
      store,
      sessionOf: (instance) => instances.find(instance)?.openSession,
      settingsOf,
      isIgnored: createIgnoredChats(settingsOf),
      textOnceInMs: text === '' ? null : textOnceInMs,
      onEnded: (instance, outcome) => {
        metrics.callRejections.inc({ instance, outcome })
        if (outcome === 'rejected') void giving.tick()
      },
      clock,
      log,
    }),
  )
  const pruning = new Ticker({
    ...{ name: 'rejected-calls-prune', everyMs: pruneMs, firstMs: firstSweepMs, clock, log },
    work: () => texts.prune(),
  })
  return { rejections, workers: [giving, pruning] }
}

function textAnswerOf(answer: DirectAnswer): TextAnswer {
  switch (answer.kind) {
    case 'sent':
    case 'queued':
      return { kind: 'accepted' }
    case 'full':
    case 'late':
      return { kind: 'later' }
    case 'blocked':
    case 'refused':
      return { kind: 'refused', reason: answer.reason }
  }
}
