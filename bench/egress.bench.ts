// CPU of a JSON POST through the guarded client against undici's own request, both to a server in another process.

import { Agent, request } from 'undici'
import { Egress } from '../src/lib/egress/egress.ts'
import { publicOnly } from '../src/lib/egress/policy.ts'
import { interleave, round } from './benchmark.ts'
import type { BenchmarkResult } from './benchmark.ts'
import { Child } from './child.ts'
import type { EgressServerDesk } from './egress-server.ts'
import { ownCpuMs } from './own-use.ts'

const rounds = 7
const posts = 2000
const atOnce = 8
const timeoutMs = 15_000
const headers = { 'content-type': 'application/json', 'api-access-token': 'token' }
const body = JSON.stringify({ content: 'y'.repeat(200), message_type: 'incoming', source_id: '3EB0' })

export async function run(): Promise<BenchmarkResult> {
  await using server = new Child<EgressServerDesk>('./egress-server.ts')
  const url = await server.ask('listen')
  await using egress = new Egress({ policy: publicOnly(['127.0.0.1']) })
  await using stack = new AsyncDisposableStack()
  const dispatcher = stack.adopt(new Agent({ connections: 16 }), (agent) => agent.destroy())

  const guarded = async () => (await egress.request({ method: 'POST', url, headers, body, timeoutMs })).json()
  const bare = async () => (await request(url, { method: 'POST', headers, body, dispatcher })).body.json()
  // A caller without our client needs a deadline too, or can wait for ever.
  const bareWithDeadline = async () => {
    const signal = AbortSignal.timeout(timeoutMs)
    return (await request(url, { method: 'POST', headers, body, dispatcher, signal })).body.json()
  }
  for (const post of [guarded, bare, bareWithDeadline]) await measure(post)
  const measured = await interleave(rounds, {
    guarded: () => measure(guarded),
    bare: () => measure(bare),
    bare_with_deadline: () => measure(bareWithDeadline),
  })
  const figures = Object.fromEntries(
    Object.entries(measured).map(([way, { cpuMs = NaN }]) => [`${way}_cpu_ms_per_post`, round(cpuMs)]),
  )
  const ratio = (way: 'bare' | 'bare_with_deadline') =>
    round((measured.guarded['cpuMs'] ?? NaN) / (measured[way]['cpuMs'] ?? NaN))
  const ratios = { cpu_against_bare: ratio('bare'), cpu_against_bare_with_deadline: ratio('bare_with_deadline') }
  return { figures, ratios, targets: { cpu_against_bare: { atMost: 1.2 } } }
}

async function measure(post: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = ownCpuMs()
  let left = posts
  const work = async () => {
    while (left-- > 0) await post()
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { cpuMs: (ownCpuMs() - before) / posts }
}
