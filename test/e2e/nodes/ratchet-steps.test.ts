// Two clients with the same keys encrypt with the same step: the witness of the stage notices it on the wire.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import { KeyPair } from '../../../sim/network/signal/curve.ts'
import { Session } from '../../../sim/network/signal/session.ts'
import type { Sealed } from '../../../sim/network/signal/session.ts'
import { stanza } from '../../../sim/network/wire/stanza.ts'
import { RatchetSteps } from './harness/ratchet-steps.ts'

/** The same seed gives the same session: it stands for a process that works with an old copy of the keys. */
function newSession(): Session {
  const random = new SeededRandom('ratchet')
  const key = () => new KeyPair(random.bytes(32))
  const bundle = {
    registrationId: 1,
    identityKey: key().publicKey,
    signedPreKey: { id: 1, publicKey: key().publicKey },
    preKey: undefined,
  }
  return Session.initiate({ identity: key(), registrationId: 2, random }, bundle)
}

function noted(steps: RatchetSteps, id: string, { type, body }: Sealed): void {
  const device = stanza('to', { jid: 'a' }, [stanza('enc', { type, v: '2' }, body)])
  const node = stanza('message', { id }, [stanza('participants', {}, [device])])
  steps.note({ at: 0, account: 'n0', direction: 'in', tag: 'message', attrs: {}, node })
}

test('steps that follow each other are fine, and so is the same message again', () => {
  const steps = new RatchetSteps()
  const session = newSession()
  const first = session.encrypt(Buffer.from('one'))
  noted(steps, 'm1', first)
  noted(steps, 'm2', session.encrypt(Buffer.from('two')))
  noted(steps, 'm1', first)
  assert.deepEqual([steps.reused, steps.count], [[], 2])
})

test('a step that encrypts another text is named with its message', () => {
  const steps = new RatchetSteps()
  noted(steps, 'm1', newSession().encrypt(Buffer.from('one')))
  noted(steps, 'm2', newSession().encrypt(Buffer.from('two')))
  assert.deepEqual(steps.reused, ['n0: m2'])
})
