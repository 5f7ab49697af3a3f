// kill -9 at every step of a pairing: whatever was reached, the next start understands it without a person.

import '../../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SimNetwork } from '../../../sim/network/sim-network.ts'
import { newLocation } from '../../harness/databases.ts'
import { networkEnvironment } from '../../harness/service.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const owner = '5511999990001'
type Detail = { state: string; jid: string | null; qr: { available: boolean } }

const detailOf = async (url: string) => (await (await fetch(`${url}/api/instances/a`)).json()) as Detail
const post = (url: string, path: string, body?: object) =>
  fetch(`${url}/api/instances${path}`, {
    method: 'POST',
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })

async function qrOf(url: string): Promise<string> {
  let text = ''
  await waitUntil('a QR code is shown', async () => {
    const answer = await fetch(`${url}/api/instances/a/qr?format=text`)
    text = answer.ok ? await answer.text() : ''
    return text !== ''
  })
  return text
}

async function reaches(url: string, state: string): Promise<void> {
  let seen: Detail | undefined
  const isThere = async () => {
    seen = await detailOf(url)
    return seen.state === state
  }
  await waitUntil(`the instance is ${state}`, isThere, { instead: () => seen })
}

describe('a service killed', () => {
  test('while the code is shown is disconnected afterwards and pairs on request', async () => {
    await using place = await newLocation('sqlite')
    await using network = await SimNetwork.start()
    const phone = network.account({ phone: owner })
    const environment = { DATABASE_URL: place.url, ...networkEnvironment(network) }
    await using first = new ServiceProcess(environment)
    const url = await first.ready()
    await post(url, '', { name: 'a' })
    await qrOf(url)
    first.send('SIGKILL')
    await first.exited()
    await using second = new ServiceProcess(environment)
    const again = await second.ready()
    await reaches(again, 'disconnected')
    await post(again, '/a/refresh-qr')
    await phone.scan(await qrOf(again))
    await reaches(again, 'ready')
  })

  // The kill strikes at the log line of each step; which writes had reached the disk by then is up to chance.
  for (const line of ['instance state changed', 'the phone has scanned']) {
    test(`right after the scan (${line}) is ready afterwards, or pairs again on request`, async () => {
      await using place = await newLocation('sqlite')
      await using network = await SimNetwork.start()
      const phone = network.account({ phone: owner })
      const environment = { DATABASE_URL: place.url, ...networkEnvironment(network) }
      await using first = new ServiceProcess(environment)
      const url = await first.ready()
      await post(url, '', { name: 'a' })
      const code = await qrOf(url)
      const scanned = phone.scan(code)
      if (line === 'the phone has scanned') await scanned
      else await waitUntil('the scan is known', async () => (await detailOf(url)).state !== 'qr_pending')
      first.send('SIGKILL')
      await first.exited()
      await scanned.catch(() => undefined)
      await using second = new ServiceProcess(environment)
      const again = await second.ready()
      await waitUntil('the instance has settled', async () =>
        ['ready', 'disconnected'].includes((await detailOf(again)).state),
      )
      // The network is told that the pairing is complete only after the credentials are stored.
      if (line === 'the phone has scanned') await reaches(again, 'ready')
      if ((await detailOf(again)).state === 'disconnected') {
        await post(again, '/a/refresh-qr')
        await phone.scan(await qrOf(again))
      }
      await reaches(again, 'ready')
      assert.equal((await detailOf(again)).jid, `${owner}@s.whatsapp.net`)
      if (line === 'the phone has scanned') assert.equal(phone.companions.length, 1, 'not paired a second time')
    })
  }
})
