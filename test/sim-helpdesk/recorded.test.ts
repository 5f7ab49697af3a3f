// Replays requests that were recorded on a real Chatwoot and compares its answers with those of the simulator.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { backdatePlan } from './replay/backdate-plan.ts'
import { contactsPlan } from './replay/contacts-plan.ts'
import { conversationsPlan } from './replay/conversations-plan.ts'
import { errorsPlan } from './replay/errors-plan.ts'
import { historyPlan } from './replay/history-plan.ts'
import { inboxPlan } from './replay/inbox-plan.ts'
import { interactivePlan } from './replay/interactive-plan.ts'
import { knownDifferences } from './replay/known-differences.ts'
import { messagesPlan } from './replay/messages-plan.ts'
import { publicApiPlan } from './replay/public-api-plan.ts'
import { replay } from './replay/replay.ts'
import type { Found, Plan } from './replay/replay.ts'

const plans: Record<string, Plan> = {
  errors: errorsPlan,
  inbox: inboxPlan,
  contacts: contactsPlan,
  conversations: conversationsPlan,
  messages: messagesPlan,
  interactive: interactivePlan,
  'public-api': publicApiPlan,
  history: historyPlan,
  backdate: backdatePlan,
}

for (const [file, plan] of Object.entries(plans)) {
  test(`the simulator answers the recorded requests of ${file}.json as Chatwoot did`, async () => {
    const found = await replay(file, plan)
    const known = knownDifferences.filter((one) => one.file === file)
    const isKnown = ({ what, at }: Found) => known.some((one) => one.what === what && at.startsWith(one.at))
    const surprises = found.filter((one) => !isKnown(one)).map(say)
    assert.ok(surprises.length === 0, `\n${surprises.join('\n')}`)
    const gone = known.filter((one) => !found.some(({ what, at }) => one.what === what && at.startsWith(one.at)))
    assert.deepEqual(gone, [], 'these differences exist no more: remove them from the list')
  })
}

function say({ what, at, recorded, got }: Found): string {
  return `${what} › ${at}: Chatwoot ${brief(recorded)}, simulator ${brief(got)}`
}

function brief(value: unknown): string {
  return inspect(value, { depth: 4, breakLength: Infinity, maxStringLength: 300 })
}
