import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../../test/harness/manual-clock.ts'
import { BanRisk } from '../../../guard/ban-risk.ts'
import { Metrics } from '../../../ledger/metrics.ts'
import { OutboundMetrics } from './outbound-metrics.ts'

const [who, own, other] = [{ instance: 'shop', ownerTag: 'tag' }, '1@s.whatsapp.net', '2@s.whatsapp.net']

function open() {
  const metrics = new Metrics({ version: 'x' })
  const banRisk = new BanRisk({ clock: new ManualClock() })
  const counted: string[] = []
  const outbound = new OutboundMetrics({
    metrics,
    usage: { count: (_instance, _tag, counter) => counted.push(counter) },
    banRisk,
    accounts: { announce: () => undefined, ownJid: () => own },
  })
  const sum = async () => {
    const [messages, errors] = await Promise.all([metrics.messages.get(), metrics.dispatchErrors.get()])
    const total = ({ values }: typeof messages) => values.reduce((all, { value }) => all + value, 0)
    return { messages: total(messages), errors: total(errors), counted, samples: banRisk.snapshot('shop').samples }
  }
  return { outbound, sum }
}

test('texts, files and reactions count as messages; edits and deletions do not', async () => {
  const { outbound, sum } = open()
  for (const kind of ['text', 'media', 'reaction', 'edit', 'revoke'] as const) outbound.acknowledged(who, other, kind)
  const counted = ['messages_out', 'messages_out', 'messages_out']
  assert.deepEqual(await sum(), { messages: 3, errors: 0, counted, samples: 3 })
})

test('each lost part is an error; a lost edit or deletion is no sample of the risk', async () => {
  const { outbound, sum } = open()
  for (const kind of ['text', 'edit', 'revoke'] as const) outbound.lost(who, other, kind)
  assert.deepEqual(await sum(), { messages: 0, errors: 3, counted: [], samples: 1 })
})

test('a message to the own phone counts, and is no sample of the risk', async () => {
  const { outbound, sum } = open()
  outbound.acknowledged(who, own, 'text')
  assert.deepEqual(await sum(), { messages: 1, errors: 0, counted: ['messages_out'], samples: 0 })
})
