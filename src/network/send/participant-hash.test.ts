// The hash of a list of devices, checked against a computation outside of the service.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { participantHash } from './participant-hash.ts'

const devices = ['5511888880001@s.whatsapp.net', '5511888880001:12@s.whatsapp.net', '200000000000001:3@lid']

test('the hash is over the full names of the devices, in their order', () => {
  // printf '200000000000001.0:3@lid5511888880001.0:0@s.whatsapp.net5511888880001.0:12@s.whatsapp.net' | sha256sum
  assert.equal(participantHash(devices), '2:fAuPaUt1')
})

test('neither the order nor a repeated device changes the hash', () => {
  assert.equal(participantHash([...devices, ...devices.toReversed()]), participantHash(devices))
})
