// Any events happen to a message, in any order. In the end the helpdesk shows the truth, and the message leaves at most once more
// than the agent pressed Retry.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DownstreamError } from '../../../src/core/downstream.ts'
import { writeReason } from '../../../src/core/reasons/reason.ts'
import type { AgentCalls } from '../harness/scripted-helpdesk.ts'
import { OutboundBed } from './harness/outbound-bed.ts'

type Fate = 'late' | 'twice'

/** One message, and what goes wrong with it. */
class Story {
  readonly bed: OutboundBed
  readonly text: string
  readonly #sendsBefore: number
  presses = 0
  isRunning = true
  readonly #agents: AgentCalls
  #id: number | undefined
  #fates: Fate[] = []

  constructor(bed: OutboundBed, text: string) {
    this.bed = bed
    this.text = text
    this.#sendsBefore = bed.network.frameIds.size
    this.#agents = bed.helpdesk.agents
    bed.desk.fate = () => this.#fates.shift() ?? 'taken'
  }

  /** A frame that is repeated under its id is no other send: the customer sees one message. */
  get sends(): number {
    return this.bed.network.frameIds.size - this.#sendsBefore
  }

  get message() {
    return this.#id === undefined ? undefined : this.bed.desk.message(this.#id)
  }

  write(): void {
    this.#id = this.bed.desk.write(this.text, {}, this.bed.conversation).id
  }

  press(): void {
    if (this.message?.status !== 'failed') return
    this.presses += 1
    void this.bed.desk.retry(this.message.id)
  }

  /** The helpdesk itself marks the message, as after a callback that it could not deliver. */
  fail(): void {
    if (this.message && this.isRunning) this.bed.desk.fail(this.message.id, 'end of file reached')
  }

  meet(fate: Fate): void {
    this.#fates.push(fate)
  }

  /** The next question or change at the helpdesk is refused, or its answer is lost. */
  disturb(call: 'findMessage' | 'setStatus', isDone: boolean): void {
    const { helpdesk } = this.bed
    const { agents } = helpdesk
    const failure = new DownstreamError('transient', 'HTTP 500', { mayHaveHappened: isDone })
    helpdesk.agents = {
      ...agents,
      [call]: async (...which: Parameters<typeof agents.setStatus>) => {
        helpdesk.agents = agents
        if (isDone) await agents[call](...which)
        throw failure
      },
    }
  }

  async stop(): Promise<void> {
    if (this.isRunning) await this.bed.stop()
    this.isRunning = false
  }

  async start(): Promise<void> {
    if (!this.isRunning) await this.bed.start()
    this.isRunning = true
  }

  /** Nothing goes wrong any more, and all that is planned happens. */
  async end(): Promise<void> {
    const { bed } = this
    this.#fates = []
    bed.helpdesk.agents = this.#agents
    while (bed.network.nextFault()) continue
    await this.start()
    bed.connect()
    for (let n = 0; n < 8; n++) await bed.pass(20_000)
    await bed.pass(400_000)
  }
}

const steps: Record<string, (story: Story) => void | Promise<void>> = {
  refuse: ({ bed }) => {
    bed.network.fault({ kind: 'ack_error', code: 479 })
  },
  press: (story) => {
    story.press()
  },
  'fail at the helpdesk': (story) => {
    story.fail()
  },
  'answer late': (story) => {
    story.meet('late')
  },
  'deliver twice': (story) => {
    story.meet('twice')
  },
  'lose an answer': (story) => {
    story.disturb('setStatus', true)
  },
  'refuse a change': (story) => {
    story.disturb('setStatus', false)
  },
  'refuse a question': (story) => {
    story.disturb('findMessage', false)
  },
  stop: (story) => story.stop(),
  start: (story) => story.start(),
  disconnect: ({ bed }) => {
    bed.disconnect()
  },
  connect: ({ bed }) => {
    bed.connect()
  },
  'half a second': ({ bed }) => bed.pass(500),
  'twelve seconds': ({ bed }) => bed.pass(12_000),
  'six minutes': ({ bed }) => bed.pass(360_000),
}

const names = fc.constantFrom(...Object.keys(steps))
const plot = fc.record({ before: fc.array(names, { maxLength: 3 }), after: fc.array(names, { maxLength: 14 }) })

test('the helpdesk shows the truth in the end, and a message leaves at most once more than Retry was pressed', async () => {
  await using bed = await OutboundBed.open()
  await bed.write('the first callback')
  let number = 0
  const holds = fc.asyncProperty(plot, async ({ before, after }) => {
    const story = new Story(bed, `message ${++number}`)
    for (const name of before) await steps[name]?.(story)
    story.write()
    for (const name of after) {
      await bed.settle(1)
      await steps[name]?.(story)
    }
    await story.end()
    const received = bed.texts().filter((text) => text === story.text).length
    const { status, contentAttributes } = story.message ?? {}
    // A message that may have left before a stop, and whose time ran out before it could be repeated, is not known to be sent.
    const isUnconfirmed = after.includes('stop') && contentAttributes?.['external_error'] === writeReason('unconfirmed')
    if (!isUnconfirmed) assert.equal(status, received > 0 ? 'sent' : 'failed', `received ${received} times`)
    assert.ok(received <= 1, `received ${received} times`)
    assert.ok(story.sends <= 1 + story.presses, `${story.sends} sends, ${story.presses} presses`)
  })
  await fc.assert(holds, { numRuns: 60 })
})
