import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditRecord } from '../../core/audit.ts'
import { BridgeError } from '../../core/errors.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { GroupError } from '../../core/group-administration.ts'
import type { GroupAdministration } from '../../core/group-administration.ts'
import { GroupService } from './group-service.ts'
import type { GroupSession } from './group-session.ts'

const who = { instance: 'shop', ownerTag: 'acme', actor: 'dashboard' } as const
const group = '120363000000000001'

/** A service over a network that answers with these functions. */
function serviceOver(groups: Partial<GroupAdministration> | undefined) {
  const records: AuditRecord[] = []
  const forgotten: string[] = []
  const book = { fails: false }
  const service = new GroupService({
    sessionOf: () => (groups ? ({ groups } as GroupSession) : undefined),
    people: { lookUpAll: () => Promise.resolve(() => undefined) },
    directory: { forget: (instance, id) => forgotten.push(`${instance} ${id}`) },
    invitations: { invite: () => Promise.reject(new Error('an invitation is sent')) },
    audit: (record) => {
      if (book.fails) return Promise.reject(new Error('no database'))
      records.push(record)
      return Promise.resolve()
    },
    clock: { now: () => 7 },
  })
  return { service, records, forgotten, book }
}

function rejects(work: Promise<unknown>, code: ErrorCode, sentence: RegExp): Promise<void> {
  return assert.rejects(work, (error) => {
    assert.ok(error instanceof BridgeError)
    assert.equal(error.code, code)
    assert.match(error.message, sentence)
    return true
  })
}

test('a change is written to the audit log with its owner, and the next caller reads the group anew', async () => {
  const { service, records, forgotten } = serviceOver({ setLocked: () => Promise.resolve() })
  await service.setLocked(who, group, true)
  const [{ key, ...record } = {}] = records
  assert.ok(key)
  assert.deepEqual(record, {
    at: 7,
    action: 'group.locked',
    ...who,
    target: `${group}@g.us`,
    metadata: { locked: true },
  })
  assert.deepEqual(forgotten, [`shop ${group}`])
})

test('a caller hears that the group may have changed when the audit log cannot be written', async () => {
  const { service, book } = serviceOver({ leave: () => Promise.resolve() })
  book.fails = true
  await rejects(service.leave(who, group), 'SERVICE_STORAGE_FAILED', /may have been changed/)
})

test('the errors of the network have codes; only an unknown outcome is written to the audit log', async () => {
  const failures = [
    [new GroupError('not_found', 'no such group'), 'SERVICE_GROUP_NOT_FOUND', 0],
    [new GroupError('refused', 'not an administrator', { code: 401 }), 'SERVICE_NETWORK_FAILED', 0],
    [new GroupError('failed', 'no answer'), 'SERVICE_NETWORK_FAILED', 1],
    [new TypeError('a bug'), 'SERVICE_NETWORK_FAILED', 1],
  ] as const
  for (const [error, code, written] of failures) {
    const { service, records } = serviceOver({ setSubject: () => Promise.reject(error) })
    await rejects(service.rename(who, group, 'x'), code, error instanceof GroupError ? new RegExp(error.message) : /./)
    assert.deepEqual(
      records.map(({ metadata }) => metadata),
      Array(written).fill({ unconfirmed: true }),
    )
  }
})

test('bytes that are no picture are a fault of the caller, a refused picture is not', async () => {
  const setPicture = (code: number | null) => () => Promise.reject(new GroupError('refused', 'no picture', { code }))
  const picture = Buffer.of(1)
  const unreadable = serviceOver({ setPicture: setPicture(null) })
  await rejects(unreadable.service.setPicture(who, group, picture), 'SERVICE_BAD_REQUEST', /no picture/)
  const refused = serviceOver({ setPicture: setPicture(401) })
  await rejects(refused.service.setPicture(who, group, picture), 'SERVICE_NETWORK_FAILED', /no picture/)
})

test('an account that is not ready answers no question about groups', async () => {
  const { service } = serviceOver(undefined)
  await rejects(service.list('shop'), 'SERVICE_NOT_READY', /not ready/)
  await rejects(service.leave(who, group), 'SERVICE_NOT_READY', /not ready/)
})
