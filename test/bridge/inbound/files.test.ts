import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import { FileError } from '../../../src/core/network.ts'
import { sleep } from '../../../src/lib/clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { BridgeBed, message, person } from './harness/bridge-bed.ts'
import { file, missing, photo } from './harness/photo.ts'

describe('files', () => {
  test('are fetched whole before anything is posted', async () => {
    await using bed = await BridgeBed.open()
    bed.download = () => Promise.resolve(Readable.from([Buffer.from('ab'), Buffer.from('cd')]))
    await bed.receive(message(photo()))
    await bed.posted(1)
    const [posted] = bed.helpdesk.messages
    assert.deepEqual([posted?.content, posted?.bytes, posted?.files[0]?.size], ['look', 4, 4])
  })

  test('larger than a megabyte go through a file, not through memory', async () => {
    await using bed = await BridgeBed.open()
    const chunk = Buffer.alloc(256 * 1024, 7)
    bed.download = () => Promise.resolve(Readable.from(Array.from({ length: 20 }, () => chunk)))
    await bed.receive(message(photo({ size: null })))
    await bed.posted(1)
    assert.equal(bed.helpdesk.messages[0]?.bytes, 20 * chunk.length)
  })

  test('that break off are tried three times in 30 s; then the words go on without', async () => {
    await using bed = await BridgeBed.open()
    let tries = 0
    bed.download = () => {
      tries++
      return Promise.resolve(
        Readable.from(
          (function* () {
            yield Buffer.from('ab')
            throw new FileError(false, 'not what was sent')
          })(),
        ),
      )
    }
    await bed.receive(message(photo()))
    await bed.receive(message('next'))
    await bed.postedWithin(2, 30_000)
    assert.equal(tries, 3)
    assert.deepEqual(bed.helpdesk.contents, [missing, 'next'])
  })

  test('that the server no longer has are asked of the phone', async () => {
    await using bed = await BridgeBed.open()
    bed.session = { requestFileAgain: (_key, old) => Promise.resolve({ ...old, url: 'https://again' }) }
    bed.download = ({ url }) =>
      url === 'https://again'
        ? Promise.resolve(Readable.from([Buffer.from('abcd')]))
        : Promise.reject(new FileError(true, 'gone'))
    await bed.receive(message(photo()))
    await bed.posted(1)
    assert.equal(bed.helpdesk.messages[0]?.bytes, 4)
  })

  const expired = () => Promise.reject(new FileError(true, 'gone'))

  test('are asked of the phone once, and only their own chat waits for that phone', async () => {
    await using bed = await BridgeBed.open({ instances: ['a', 'b'] })
    let asked = 0
    bed.session = {
      requestFileAgain: () => {
        asked++
        return sleep(bed.clock, 20_000).then(() => Promise.reject(new FileError(true, 'the phone did not answer')))
      },
    }
    bed.download = ({ url }) =>
      url === 'https://x' ? expired() : Promise.resolve(Readable.from([Buffer.from('abcd')]))
    for (let index = 0; index < 10; index++) await bed.receive(message(photo(), { chat: person(`551190000${index}`) }))
    await waitUntil('all are asked for', () => asked === 10)
    const there = { ...file, url: 'https://there' }
    for (const instance of ['a', 'b']) await bed.receive(message(photo({ file: there, caption: instance })), instance)
    await bed.posted(2)
    assert.deepEqual(bed.helpdesk.contents.toSorted(), ['a', 'b'])
    await bed.postedWithin(12, 21_000)
    assert.deepEqual([asked, bed.helpdesk.contents.at(-1)], [10, missing])
  })

  test('that hang are given up after 30 s and three tries', async () => {
    await using bed = await BridgeBed.open()
    let tries = 0
    bed.download = (_file, signal) => {
      tries++
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error)
        })
      })
    }
    await bed.receive(message(photo()))
    await bed.postedWithin(1, 31_000)
    assert.deepEqual([tries, bed.helpdesk.contents], [3, [missing]])
  })

  test('that a silent phone was asked for do not keep an instance from being let go of', async () => {
    await using bed = await BridgeBed.open()
    const asked = Promise.withResolvers<undefined>()
    bed.session = {
      requestFileAgain: () => {
        asked.resolve(undefined)
        return new Promise(() => undefined)
      },
    }
    bed.download = expired
    await bed.receive(message(photo()))
    await asked.promise
    await bed.leave('a')
    assert.equal(bed.clock.pending, 0)
  })

  test('over the limit are a notice at once, as stated or as they turn out', async () => {
    await using bed = await BridgeBed.open({ environment: { SERVICE_MEDIA_MAX_BYTES: '1mb' } })
    const chunk = Buffer.alloc(512 * 1024)
    bed.download = () => Promise.resolve(Readable.from([chunk, chunk, chunk]))
    const notice = 'look\n\n⚠️ The photo is larger than 1 MB and can only be seen on the phone.'
    await bed.receive(message(photo({ size: 2 * 1024 * 1024 })))
    await bed.receive(message(photo({ size: null })))
    await bed.posted(2)
    assert.deepEqual(bed.helpdesk.contents, [notice, notice])
    await bed.drained()
  })

  test('over a limit below a megabyte are told so', async () => {
    await using bed = await BridgeBed.open({ environment: { SERVICE_MEDIA_MAX_BYTES: '512kb' } })
    await bed.receive(message(photo({ size: 2 * 1024 * 1024 })))
    await bed.posted(1)
    assert.match(bed.helpdesk.contents[0] ?? '', /larger than 512 kB/)
  })

  test('that the helpdesk refuses leave the words and a notice', async () => {
    await using bed = await BridgeBed.open()
    bed.download = () => Promise.resolve(Readable.from([Buffer.from('abcd')]))
    let refusals = 1
    bed.helpdesk.script = (call) => {
      if (call === 'post' && refusals-- > 0) throw new DownstreamError('permanent', 'answered 413', { status: 413 })
    }
    await bed.receive(message(photo()))
    await bed.posted(1)
    assert.deepEqual(bed.helpdesk.contents, ['look\n\n⚠️ The helpdesk refused the photo. It can be seen on the phone.'])
  })

  test('that leave slowly take up only a part of the way to the helpdesk', async () => {
    await using bed = await BridgeBed.open()
    bed.download = () => Promise.resolve(Readable.from([Buffer.from('abcd')]))
    const commit = bed.helpdesk.commit.bind(bed.helpdesk)
    const slow = Promise.withResolvers<undefined>()
    let uploads = 0
    bed.helpdesk.commit = async (destination, conversation, given) => {
      if (given.files.length > 0 && ++uploads > 0) await slow.promise
      return commit(destination, conversation, given)
    }
    for (let index = 0; index < 20; index++) await bed.receive(message(photo(), { chat: person(`551190000${index}`) }))
    await waitUntil('some are on their way', () => uploads === 8)
    await bed.receive(message('text'))
    await bed.posted(1)
    assert.deepEqual([uploads, bed.helpdesk.contents], [8, ['text']])
    slow.resolve(undefined)
    await bed.posted(21)
    await bed.drained()
  })

  test('are not kept while a destination is held, but fetched again', async () => {
    await using bed = await BridgeBed.open()
    let fetched = 0
    bed.download = () => {
      fetched++
      return Promise.resolve(Readable.from([Buffer.from('abcd')]))
    }
    let failures = 1
    bed.helpdesk.script = (call) => {
      if (call === 'post' && failures-- > 0) throw new DownstreamError('destination', 'away')
    }
    await bed.receive(message(photo()))
    await bed.postedWithin(1, 31_000, 5000)
    assert.deepEqual([fetched, bed.helpdesk.messages[0]?.bytes], [2, 4])
  })

  test('are fetched once, however often the helpdesk must be asked', async () => {
    await using bed = await BridgeBed.open()
    let fetched = 0
    bed.download = () => {
      fetched++
      return Promise.resolve(Readable.from([Buffer.from('abcd')]))
    }
    let failures = 3
    bed.helpdesk.script = (call) => {
      if (call === 'post' && failures-- > 0) throw new DownstreamError('transient', 'answered 503')
    }
    await bed.receive(message(photo()))
    await bed.postedWithin(1, 60_000)
    assert.deepEqual([fetched, bed.helpdesk.messages[0]?.bytes], [1, 4])
  })
})
