// Chooses the tests that a mutant has to fail: those of its room that import the file, the nearest first.

import { dirname } from 'node:path'
import type { ImportGraph } from './import-graph.ts'

// An end-to-end test reaches nearly every file. The nearest of them must do.
const mostDistant = 8

/**
 * The tests of `src/bridge/outbound/send/x.ts` are those in bridge/outbound/send, bridge/outbound and bridge. The folder
 * `test/bridge/outbound` is made for it. `src/network/files/x.ts` has no such folder, so it has the tests of its whole room.
 * A file that its room does not test has the nearest tests of other rooms.
 */
export function chooseTests(file: string, tests: readonly string[], graph: Pick<ImportGraph, 'distance'>): string[] {
  const near = tests.flatMap((test) => {
    const steps = graph.distance(test, file)
    return steps === undefined ? [] : [{ test, steps: steps + roomsBetween(test, file) }]
  })
  near.sort((a, b) => a.steps - b.steps)
  const around = near.filter(({ test }) => `${folderOf(file)}/`.startsWith(`${folderOf(test)}/`))
  const ofRoom = near.filter(({ test }) => roomOf(test) === roomOf(file))
  const hasFolder = around.some(({ test }) => test.startsWith('test/') && folderOf(test) !== roomOf(file))
  const own = hasFolder ? around : ofRoom
  return (own.length > 0 ? own : near.slice(0, mostDistant)).map(({ test }) => test)
}

/** `src/bridge/outbound/x.ts` and `test/bridge/outbound/x.test.ts` belong to the room bridge. */
export function roomOf(path: string): string {
  return path.split('/')[1] ?? ''
}

/** `bridge/outbound` for both of them. */
function folderOf(path: string): string {
  return dirname(path).split('/').slice(1).join('/')
}

/** How many folders of the file's path the test does not share. A test beside the file shares them all. */
function roomsBetween(test: string, file: string): number {
  const [inner, outer] = [folderOf(file).split('/'), folderOf(test).split('/')]
  const shared = inner.findIndex((name, index) => name !== outer[index])
  return shared === -1 ? 0 : inner.length - shared
}
