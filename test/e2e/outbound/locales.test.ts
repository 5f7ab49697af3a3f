// Why a message was not sent, in the language of the agents.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { openChat } from '../../sim-helpdesk/harness/desk-client.ts'

const wanted = {
  es: {
    unknown: 'este número no está en WhatsApp: verifíquelo con el contacto',
    refused: 'la red rechazó el mensaje (código 404)',
    tooLong: 'el texto supera los 65536 caracteres que admite WhatsApp: envíelo en partes',
  },
  pt: {
    unknown: 'este número não está no WhatsApp: confira-o com o contato',
    refused: 'a rede recusou a mensagem (código 404)',
    tooLong: 'o texto passa dos 65536 caracteres que o WhatsApp aceita: envie-o em partes',
  },
}

describe('the reason that agents see is in the language of SERVICE_LOCALE', { concurrency: true }, () => {
  for (const [locale, { unknown, refused, tooLong }] of Object.entries(wanted)) {
    test(locale, async () => {
      await using world = await AgentWorld.open({ environment: { SERVICE_LOCALE: locale } })
      const { network, desk, service } = world
      const shownError = async (id: number, words: string) => {
        const { status } = await world.shown(id, ({ contentAttributes: { external_error: error } }) => error === words)
        assert.equal(status, 'failed')
      }
      const nobody = await openChat(desk, '5511777770001')
      await shownError(await world.write('to a number without WhatsApp', {}, nobody), unknown)
      await shownError(await world.write('x'.repeat(65_537)), tooLong)
      network.fault({ kind: 'ack_error', code: 404 })
      await shownError(await world.write('refused by the network'), refused)
      // Operators and programs read English.
      const line = service.logs.withMessage('outgoing message').find(({ reason }) => reason !== undefined)
      assert.match(String(line?.['reason']), /^(?:this number is not on|the network refused)/)
    })
  }
})
