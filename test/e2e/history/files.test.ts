// Large histories come as files of the media host. The service fetches them as the settings of the network say.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Proxy } from '../../network/harness/proxies.ts'
import { PhoneStage } from './harness/phone-stage.ts'

const few = { chats: 4, messages: 60, speed: 20 }
const proxies = [
  ['an http', () => Proxy.http({ user: 'user', password: 'secret' })],
  ['a socks5', () => Proxy.socks({ user: 'user', password: 'secret' })],
] as const

for (const engine of drawnEngines(import.meta.url)) {
  describe(`a history as files, on ${engine}`, { concurrency: 2 }, () => {
    test('is fetched from the host of the network and imported', async () => {
      await using stage = await PhoneStage.open({ engine, ...few })
      const { world, phone, kept, expected } = stage
      phone.history.habits.carrying = 'file'
      await stage.link()
      const { progress } = await stage.ended('history_pairing')
      assert.deepEqual([progress['messages_kept'], progress['posted']], [kept, expected.length])
      stage.assertComplete()
      assert.ok(world.network.media.downloads >= 4, `${world.network.media.downloads} files`)
    })

    test('is not read from a host with a certificate that the settings do not name', async () => {
      await using stage = await PhoneStage.open({ engine, ...few, environment: { SERVICE_NETWORK_CA: '' } })
      const { world, phone } = stage
      phone.history.habits.carrying = 'file'
      await stage.link()
      await waitUntil('the service tries again', () => world.network.media.connections > 1)
      assert.equal(world.network.media.downloads, 0)
      assert.deepEqual((await world.service.get('/api/jobs')).body, [])
      assert.deepEqual(world.helpdesk.see.conversations(), [])
    })

    for (const [name, start] of proxies) {
      test(`goes through ${name} proxy of the instance, and not around it`, async () => {
        await using proxy = await start()
        await using stage = await PhoneStage.open({ engine, ...few })
        const { world, phone, expected } = stage
        phone.history.habits.carrying = 'file'
        const { host } = world.network.media
        await stage.link({ network_proxy: proxy.url })
        const { progress } = await stage.ended('history_pairing')
        assert.equal(progress['posted'], expected.length)
        stage.assertComplete()
        const tunnels = proxy.targets.filter((target) => target === host).length
        assert.deepEqual([tunnels, proxy.refused], [world.network.media.connections, 0])
        assert.ok(tunnels > 0 && world.network.media.downloads >= 4)
      })
    }
  })
}
