// The check of an instance, as tests ask for it and read it.

import assert from 'node:assert/strict'
import type { Service } from './service.ts'

export type SetupCheck = { name: string; ok: boolean; result: string; sentence: string; cure: string | null }
export type SetupReport = { ok: boolean; checks: SetupCheck[] }

/** `POST` adds the round trip. */
export async function checkSetup(service: Service, name: string, method: 'GET' | 'POST' = 'GET'): Promise<SetupReport> {
  const { status, body, text } = await service.request(method, `/api/instances/${name}/check`)
  assert.equal(status, 200, text)
  return body as SetupReport
}

export function checkOf({ checks }: SetupReport, name: string): SetupCheck {
  const found = checks.find((each) => each.name === name)
  assert.ok(found, `${name} is not among ${checks.map((each) => each.name).join(', ')}`)
  return found
}

/** The names of the checks that are neither passed nor left out. */
export function unhappy({ checks }: SetupReport): string[] {
  return checks.filter(({ ok }) => !ok).map(({ name }) => name)
}
