// Counts what became of the mutants of each room.

import type { Verdict } from './mutant-trial.ts'

export type Tried = { room: string; result: Verdict['result'] | 'accepted' }

/** A mutant with which a test hangs counts as noticed, in `timeout`. `score` leaves the accepted survivors out, `scoreOfAll` counts them as survivors. */
export type RoomScore = {
  room: string
  mutants: number
  killed: number
  timeout: number
  survived: number
  accepted: number
  score: number
  scoreOfAll: number
}

export function scoresOf(tried: readonly Tried[]): RoomScore[] {
  const rooms = [...Map.groupBy(tried, ({ room }) => room)]
  const all = rooms.length > 1 ? [['all', tried] as const] : []
  return [...rooms, ...all].map(([room, each]) => {
    const count = (...results: Tried['result'][]) => each.filter(({ result }) => results.includes(result)).length
    const [killed, timeout] = [count('killed'), count('timeout')]
    const [survived, accepted] = [count('survived', 'untested'), count('accepted')]
    const noticed = killed + timeout
    const score = percent(noticed, noticed + survived)
    const scoreOfAll = percent(noticed, each.length)
    return { room, mutants: each.length, killed, timeout, survived, accepted, score, scoreOfAll }
  })
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.round((part / whole) * 1000) / 10
}
