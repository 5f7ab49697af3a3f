import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { timerSeconds } from '../../core/chat-timer.ts'
import { proto } from '../library/library.ts'
import { carriedTimer, setTimer } from './timer.ts'

const { Initiator } = proto.DisappearingMode
const at = 1_700_000_000_000
const theirs = { at, fromMe: false }
const ours = { at, fromMe: true }
const toldAt = at / 1000

describe('the timer that a message carries', () => {
  test('has the seconds and the date of its setting', () => {
    const told = carriedTimer({ expiration: 86_400, ephemeralSettingTimestamp: 1_600_000_000 }, theirs)
    assert.deepEqual(told, { seconds: 86_400, setAt: 1_600_000_000, toldAt, by: 'chat', isSetting: false })
  })

  test('is missing in a message that says nothing about it', () => {
    for (const context of [undefined, {}, { expiration: 0 }, { expiration: 0, ephemeralSettingTimestamp: 0 }]) {
      assert.equal(carriedTimer(context, theirs), undefined)
    }
  })

  test('is off when the message dates a setting of zero', () => {
    assert.equal(carriedTimer({ ephemeralSettingTimestamp: 1_600_000_000 }, theirs)?.seconds, 0)
  })

  test('is not newer than the message, and a date before 1970 is none', () => {
    assert.equal(carriedTimer({ expiration: 60, ephemeralSettingTimestamp: 9e12 }, theirs)?.setAt, toldAt)
    assert.equal(carriedTimer({ expiration: 60, ephemeralSettingTimestamp: -5 }, theirs)?.setAt, 0)
  })

  test('names the default of the account or of the other person from our side', () => {
    const by = (initiator: proto.DisappearingMode.Initiator, told: typeof theirs) =>
      carriedTimer({ expiration: 60, disappearingMode: { initiator } }, told)?.by
    assert.deepEqual([by(Initiator.INITIATED_BY_ME, theirs), by(Initiator.INITIATED_BY_ME, ours)], ['other', 'me'])
    assert.deepEqual(
      [by(Initiator.INITIATED_BY_OTHER, theirs), by(Initiator.INITIATED_BY_OTHER, ours)],
      ['me', 'other'],
    )
    assert.equal(by(Initiator.CHANGED_IN_CHAT, ours), 'chat')
  })
})

test('a setting without a date is as old as its message', () => {
  const told = setTimer({ ephemeralExpiration: 60 }, theirs)
  assert.deepEqual(told, { seconds: 60, setAt: toldAt, toldAt, by: 'chat', isSetting: true })
})

test('a timer of more than a year, a negative one and a fraction are no timers', () => {
  for (const seconds of [0xffff_ffff, 367 * 86_400, -1, 0.5, NaN]) {
    assert.equal(timerSeconds(seconds), undefined)
    assert.equal(carriedTimer({ expiration: seconds }, theirs), undefined)
    assert.equal(setTimer({ ephemeralExpiration: seconds }, theirs), undefined)
  }
  assert.deepEqual([timerSeconds(1), timerSeconds(365 * 86_400), timerSeconds(null)], [1, 365 * 86_400, 0])
})
