// How fast history is imported, how much an import delays received messages, and how much the service grows meanwhile.

import { setTimeout as sleep } from 'node:timers/promises'
import { inTurn, medianRatio, medians, round } from './benchmark.ts'
import type { BenchmarkResult } from './benchmark.ts'
import { figuresOf } from './flow.ts'
import type { Figures } from './flow.ts'
import type { PastPlan } from './history-past.ts'
import { HistoryStage } from './history-stage.ts'

type Load = { accounts: number; plan: PastPlan; environment?: Record<string, string> }

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3)
/** Of each chat. */
const messages = Number(process.env['BENCH_MESSAGES'] ?? 15)
/** A conversation gets three messages per second and an account imports 20 chats at a time, so one account is not enough. */
const accounts = Number(process.env['BENCH_INSTANCES'] ?? 4)
const historyMb = Number(process.env['BENCH_MB'] ?? 200)
const everyMs = 50
const defaultRate = 5
const highestRate = 1000
const megabyteKb = 1024
const megabyte = megabyteKb * 1024
const readers = 2
const chatsPerPiece = 100
const pieceMb = 25
const oldText = 1800
const recent = { messages, days: 5, textBytes: 80 }

export async function run(): Promise<BenchmarkResult> {
  // Four chats at a time reach the default rate.
  const usual = await measureImport({ accounts: 1, plan: { ...recent, chats: 4 } })
  const fast = await measureImport({
    accounts,
    plan: { ...recent, chats: 20 },
    environment: { SERVICE_HISTORY_IMPORT_RATE_PER_SEC: String(highestRate) },
  })
  const grown = await measureGrowth()
  const figures = { ...named('default_rate', usual.figures), ...named('highest_rate', fast.figures), ...grown }
  return {
    figures: Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, round(value)])),
    ratios: {
      default_rate_p99: round(usual.p99),
      highest_rate_p99: round(fast.p99),
      reached_rate: round((usual.figures['imported_per_s'] ?? NaN) / defaultRate),
      growth_mb: round(grown.growth_mb),
    },
    // At the highest rate the import takes what the machine has, so that ratio has no target.
    targets: {
      default_rate_p99: { atMost: 2 },
      reached_rate: { atLeast: 0.8, atMost: 1.1 },
      growth_mb: { atMost: 64 },
    },
  }
}

/** Blocks with and without an import in turn, of the same length. People write to the first account all the time. */
async function measureImport({ accounts, plan, environment }: Load): Promise<{ figures: Figures; p99: number }> {
  await using stack = new AsyncDisposableStack()
  const stage = await HistoryStage.open(stack, accounts, environment)
  await stage.sim.ask('meet', stage.numbers[0] ?? '')
  await stage.import({ ...plan, chats: 2, messages: 3 })
  let blockMs = 0
  const during = async () => {
    const { result, ...block } = await withWriters(stage, () => stage.import(plan))
    blockMs = block.wallMs
    const { posted, seconds } = result
    return { ...waitsOf(block), cpu_ms: block.cpuMs, posted, imported_per_s: posted / seconds }
  }
  const without = async () => {
    const block = await withWriters(stage, () => sleep(blockMs))
    return { ...waitsOf(block), cpu_ms: block.cpuMs }
  }
  const measured = await inTurn(rounds, { during, without })
  await stage.assertNoProblems()
  const [beside, alone] = [medians(measured.during), medians(measured.without)]
  return {
    figures: {
      imported_per_s: beside['imported_per_s'] ?? NaN,
      cpu_ms_per_imported: ((beside['cpu_ms'] ?? NaN) - (alone['cpu_ms'] ?? NaN)) / (beside['posted'] ?? NaN),
      ...waitsIn('during', beside),
      ...waitsIn('without', alone),
    },
    p99: medianRatio(measured.during, measured.without, 'p99_ms'),
  }
}

/** What the work takes while people write, and how long each of their messages takes. */
async function withWriters<T>({ sim, ours, numbers }: HistoryStage, work: () => Promise<T>) {
  const cpuBefore = await ours.ask('cpuMs')
  const began = performance.now()
  await sim.ask('startWriting', { number: numbers[0] ?? '', everyMs })
  const result = await work()
  const wallMs = performance.now() - began
  const times = await sim.ask('stopWriting')
  const cpuMs = (await ours.ask('cpuMs')) - cpuBefore
  return { result, wallMs, cpuMs, times, count: times.length }
}

function waitsOf(block: Parameters<typeof figuresOf>[0]): Figures {
  const { p50_ms = NaN, p99_ms = NaN } = figuresOf(block)
  return { p50_ms, p99_ms }
}

function waitsIn(way: string, { p50_ms = NaN, p99_ms = NaN }: Figures): Figures {
  return named(way, { p50_ms, p99_ms })
}

/**
 * The growth is that of the resident memory, at its peak, while two phones send such a history together. The service has received
 * messages before, but no history: memory of an earlier history would hide the growth. `held_mb` is what is left of it.
 */
async function measureGrowth() {
  await using stack = new AsyncDisposableStack()
  const stage = await HistoryStage.open(stack, readers)
  await stage.sim.ask('meet', stage.numbers[0] ?? '')
  const before = await stage.ours.ask('memory')
  await stage.ours.ask('watchResident')
  const began = performance.now()
  const pieces = Math.max(1, Math.round(historyMb / readers / pieceMb))
  await stage.send(oldPast(historyMb / readers / pieces), pieces)
  await stage.stored()
  const seconds = (performance.now() - began) / 1000
  const peakKb = await stage.ours.ask('peakResidentKb')
  const after = await stage.ours.ask('memory')
  await stage.assertNoProblems()
  return {
    history_mb: historyMb,
    history_s: seconds,
    baseline_mb: before.residentKb / megabyteKb,
    growth_mb: (peakKb - before.residentKb) / megabyteKb,
    held_mb: (after.heapKb + after.buffersKb - before.heapKb - before.buffersKb) / megabyteKb,
  }
}

/** A year of messages with so many megabytes of text. The service keeps those of the last 30 days. */
function oldPast(mb: number): PastPlan {
  const perChat = Math.ceil((mb * megabyte) / chatsPerPiece / oldText)
  return { chats: chatsPerPiece, messages: perChat, days: 365, textBytes: oldText }
}

function named(prefix: string, figures: Figures): Figures {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${prefix}_${name}`, value]))
}
