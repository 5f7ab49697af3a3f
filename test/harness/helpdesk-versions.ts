// The versions of Chatwoot on which the plain flows of both directions run.

import { describe, test } from 'node:test'
import type { HelpdeskVersion } from '../../sim/helpdesk/versions.ts'

/** The oldest that the bridge supports, one in between, and the newest. */
const tested: readonly HelpdeskVersion[] = ['3.4', '4.3', '4.14']

/** Runs the test once per version, side by side, because these tests mostly wait. */
export function onEveryVersion(name: string, work: (version: HelpdeskVersion) => Promise<void>): void {
  void describe(name, { concurrency: tested.length }, () => {
    for (const version of tested) {
      void test(`on Chatwoot ${version}`, () => work(version))
    }
  })
}
