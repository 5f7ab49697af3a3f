// GET /api/warnings and GET /api/settings.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { Service } from '../../harness/service.ts'

type Warning = { ts: string; level: string; message: string; instance: string | null; details: object }

test('the newest warnings come first, with the instance and the other fields of the line', async () => {
  await using service = await Service.start()
  const { log } = service.logs
  log.info('not worth it')
  log.warn({ instance: 'shop', destination: 'https://desk|1|3' }, 'held')
  log.error({ instance: '5511999990001' }, 'no session for 5511988880001')
  const list = async (query = '') =>
    ((await service.get(`/api/warnings${query}`)).body as { warnings: Warning[] }).warnings
  const [newest, held] = await list()
  assert.ok(!Number.isNaN(Date.parse(newest?.ts ?? '')))
  // The name of an instance is chosen by the operator and stays whole.
  assert.deepEqual(
    { ...newest, ts: '' },
    {
      ...{ ts: '', level: 'error', message: 'no session for …01', instance: '5511999990001', details: {} },
    },
  )
  assert.partialDeepStrictEqual(held, { level: 'warn', instance: 'shop', details: { destination: 'https://desk|1|3' } })
  assert.deepEqual(await list('?limit=1'), [newest])
})

test('a limit that is no number from 1 to 200 is refused', async () => {
  await using service = await Service.start()
  for (const limit of ['0', '201', '-1', 'x', '', '1.5', '9'.repeat(500)]) {
    assertRefused(await service.get(`/api/warnings?limit=${limit}`), 'SERVICE_BAD_REQUEST', /from 1 to 200/)
  }
  for (const limit of ['1', '99', '100', '200']) {
    assert.equal((await service.get(`/api/warnings?limit=${limit}`)).status, 200)
  }
})

for (const engine of drawnEngines(import.meta.url)) {
  test(`settings that differ are shown with their defaults, secrets only as set (${engine})`, async () => {
    const environment = { LOG_LEVEL: 'debug', WEBHOOK_HMAC_SECRET: 'canary', SERVICE_LOCALE: 'en' }
    await using service = await Service.start({ engine, environment })
    const { body, text } = await service.get('/api/settings')
    const { settings, versions } = body as { settings: { name: string }[]; versions: Record<string, string> }
    assert.doesNotMatch(text, /canary/)
    const of = (name: string) => settings.find((each) => each.name === name)
    assert.deepEqual(of('LOG_LEVEL'), { name: 'LOG_LEVEL', value: 'debug', default: 'info', secret: false })
    assert.deepEqual(of('WEBHOOK_HMAC_SECRET'), {
      ...{ name: 'WEBHOOK_HMAC_SECRET', value: 'set', default: '', secret: true },
    })
    assert.equal(of('SERVICE_LOCALE'), undefined)
    assert.deepEqual(Object.keys(versions).sort(), ['client', engine, 'library', 'node', 'service'].sort())
    assert.match(versions['library'] ?? '', /^baileys \d/)
    assert.match(versions[engine] ?? '', /^\d+\.\d+/)
  })
}
