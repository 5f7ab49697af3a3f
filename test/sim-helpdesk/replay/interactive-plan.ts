// The state behind the recordings of interactive messages.

import { asList, asObject } from '../harness/recordings.ts'
import type { Plan } from './replay.ts'

export const interactivePlan: Plan = {
  before: {
    'post input_select': async (bench) => {
      await bench.inbox(17, 'contract-msg')
      await bench.person(88, 'Maria', '5521996606118', 17)
      await bench.conversation(86, { inbox: 17, contact: 88, source: '5521996606118' })
    },
    'post location': (bench) => {
      bench.catcher.caught.clear()
      return Promise.resolve()
    },
  },
  facts: {
    'no message callback for location': (bench) =>
      Promise.resolve({ events: bench.catcher.caught.entries.map(({ event }) => event) }),
    'csat posted with own text': async (bench) => {
      await bench.message(1461, 86, { content: 'rate us', content_type: 'input_csat' })
      await bench.helpdesk.settled()
      const hook = bench.seen.findLast((one) => one['event'] === 'message_created') ?? {}
      const newest = asObject(asList(asObject(hook['conversation'])['messages'])[0])
      return { content: hook['content'], messages0: newest['content'] }
    },
  },
}
