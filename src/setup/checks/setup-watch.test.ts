import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import type { InboxAccess } from '../../core/downstream.ts'
import type { Finding } from './finding.ts'
import { SetupWatch } from './setup-watch.ts'
import type { CheckedInstance } from './destination-checks.ts'

const minute = 60_000
const seconds = 10

type Bed = {
  clock: ManualClock
  watch: SetupWatch
  records: (CheckedInstance & { jid: string | null })[]
  /** The inboxes that were checked, and how often the process was. */
  checked: number[]
  processes: () => number
  noted: { destination: string | null; names: string[] }[]
  kept: () => ReadonlySet<string>
  /** What the findings name as broken. */
  broken: Set<string>
  /** Checks wait for it. */
  hold: { until: Promise<void> }
  /** Lets the time pass as the worker of the watch does. */
  pass: (ms: number) => Promise<void>
}

function setUp(inboxes: readonly number[], random = () => 0.5): Bed {
  const clock = new ManualClock()
  const records = inboxes.map((inboxId, index) => ({
    name: `n${index}`,
    ownerTag: '',
    inboxId,
    jid: 'x@s.whatsapp.net',
  }))
  const checked: number[] = []
  const noted: Bed['noted'] = []
  const broken = new Set<string>()
  const hold = { until: Promise.resolve() }
  let [processes, kept] = [0, new Set<string>() as ReadonlySet<string>]
  const accessOf = ({ inboxId }: { inboxId: number }): Promise<InboxAccess | null> =>
    Promise.resolve(inboxId === 0 ? null : { baseUrl: 'https://desk', apiToken: 't', accountId: 1, inboxId })
  const run = async (_: CheckedInstance, access: InboxAccess) => {
    checked.push(access.inboxId)
    await hold.until
    return { findings: [] as Finding[], version: '4.14.1' }
  }
  const watch = new SetupWatch({
    instances: { records: () => records },
    routing: { accessOf, accountOf: () => Promise.resolve(null) },
    destinations: { run },
    process: { run: () => Promise.resolve(((processes += 1), [])) },
    findings: {
      note: ({ destination }, findings) => noted.push({ destination, names: findings.map(({ name }) => name) }),
      keepOnly: (keys) => (kept = keys),
      brokenKeys: () => broken,
    },
    clock,
    random,
  })
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += seconds * 1000) {
      await watch.run()
      await clock.advance(seconds * 1000)
    }
  }
  return { clock, watch, records, checked, processes: () => processes, noted, kept: () => kept, broken, hold, pass }
}

test('one inbox is checked at the start and then once in five minutes, and so is the process', async () => {
  const bed = setUp([7])
  await bed.watch.run()
  assert.deepEqual([bed.checked, bed.processes()], [[7], 1])
  await bed.pass(5 * minute)
  assert.deepEqual([bed.checked, bed.processes()], [[7], 1])
  await bed.pass(5 * minute)
  assert.deepEqual([bed.checked, bed.processes()], [[7, 7], 2])
})

test('five hundred instances of one inbox ask once in five minutes', async () => {
  const bed = setUp(
    Array.from({ length: 500 }, () => 7),
    Math.random,
  )
  await bed.pass(10 * minute)
  assert.ok(bed.checked.length >= 1 && bed.checked.length <= 2, `${bed.checked.length} checks`)
})

test('many inboxes are spread over five minutes, and each is checked once in that time', async () => {
  const bed = setUp(
    Array.from({ length: 500 }, (_, index) => index + 1),
    Math.random,
  )
  await bed.pass(minute)
  const early = bed.checked.length
  assert.ok(early > 20 && early < 250, `${early} of 500 in the first minute`)
  await bed.pass(4 * minute + seconds * 1000)
  assert.equal(new Set(bed.checked).size, 500)
  assert.ok(bed.checked.length < 520)
})

test('an instance that is created later is checked at once', async () => {
  const bed = setUp([7])
  await bed.pass(minute)
  bed.records.push({ name: 'late', ownerTag: '', inboxId: 8, jid: null })
  await bed.watch.run()
  assert.deepEqual(bed.checked, [7, 8])
})

test('linked instances without a helpdesk are one finding; an instance that is not linked is none', async () => {
  const bed = setUp([0, 0])
  await bed.pass(minute)
  const unconfigured = bed.noted.filter(({ names }) => names.includes('helpdesk_configured'))
  assert.deepEqual(unconfigured, [{ destination: null, names: ['helpdesk_configured'] }])
  const unlinked = setUp([0])
  unlinked.records.forEach((record) => (record.jid = null))
  await unlinked.pass(minute)
  assert.deepEqual(
    unlinked.noted.map(({ names }) => names),
    [[]],
  )
})

test('at most four checks run at the same time', async () => {
  const bed = setUp([1, 2, 3, 4, 5, 6, 7, 8], () => 0)
  const held = Promise.withResolvers<undefined>()
  bed.hold.until = held.promise.then(() => undefined)
  const running = bed.watch.run()
  await bed.clock.advance(0)
  assert.ok(bed.checked.length <= 4)
  held.resolve(undefined)
  await running
  assert.equal(bed.checked.length, 8)
})

test('what belongs to an instance that has left is dropped, unless another instance uses the inbox', async () => {
  const bed = setUp([7, 7, 8], () => 0)
  await bed.watch.run()
  const before = bed.kept().size
  bed.records.splice(0, 1)
  bed.watch.leave('n0')
  assert.equal(bed.kept().size, before)
  bed.records.pop()
  bed.watch.leave('n2')
  assert.equal(bed.kept().size, before - 1)
})

test('a stop does not wait for a helpdesk that does not answer, and notes nothing afterwards', async () => {
  const bed = setUp([7])
  const held = Promise.withResolvers<undefined>()
  bed.hold.until = held.promise.then(() => undefined)
  const running = bed.watch.run()
  await bed.clock.advance(0)
  bed.watch[Symbol.dispose]()
  await running
  const noted = bed.noted.length
  held.resolve(undefined)
  await bed.clock.advance(0)
  assert.equal(bed.noted.length, noted)
  await bed.watch.run()
  assert.deepEqual(bed.checked, [7])
})

test('after a change of the configuration, what is broken is checked with the next run, and the rest in its turn', async () => {
  const bed = setUp([7, 8], () => 0)
  await bed.pass(minute)
  const [ofSeven = ''] = [...bed.kept()].filter((key) => key.includes('|7'))
  bed.broken.add(ofSeven)
  bed.watch.recheckBroken()
  await bed.watch.run()
  assert.deepEqual(bed.checked, [7, 8, 7])
})
