// Imported messages reach the bots, rules and templates of the helpdesk. None of their answers reaches the customer.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { ImportStage } from '../../harness/import-stage.ts'

const imported = /history is being imported, press Retry in a minute/
const historyOnly = /only messages that a person writes are sent from it/

for (const engine of drawnEngines(import.meta.url)) {
  describe(`while history is imported, on ${engine}`, { concurrency: 2 }, () => {
    test('the private note that comes first keeps the helpdesk from greeting', async () => {
      const inbox = { greeting_enabled: true, greeting_message: 'Welcome' }
      await using stage = await ImportStage.open({ engine, inbox, target: 'chat' })
      await stage.import()
      await stage.finish()
      assert.deepEqual(stage.answers, [])
      await stage.assertSilent(imported)
    })

    test('a greeting is not sent', async () => {
      const inbox = { greeting_enabled: true, greeting_message: 'Welcome' }
      await using stage = await ImportStage.open({ engine, inbox, target: 'chat' })
      await stage.heard('do you have it in red?')
      assert.deepEqual(
        stage.answers.map(({ content }) => content),
        ['Welcome'],
      )
      await stage.assertSilent(imported)
    })

    test('an out-of-office message is not sent', async () => {
      await using stage = await ImportStage.open({ engine })
      // The office is closed at this hour, wherever the test runs.
      const hour = new Date(stage.clock.now()).getUTCHours()
      const timezone = hour < 9 || hour >= 17 ? 'Etc/UTC' : `Etc/GMT-${hour < 12 ? 10 : 12}`
      const closed = { working_hours_enabled: true, out_of_office_message: 'We are closed', timezone }
      await stage.change('PATCH', '/inboxes/1', closed)
      await stage.note()
      await stage.clock.advance(6 * 60_000)
      await stage.heard('do you have it in red?')
      assert.deepEqual(
        stage.answers.map(({ content }) => content),
        ['We are closed'],
      )
      await stage.assertSilent(historyOnly)
    })

    test('the survey of the conversation that is resolved at the end is not sent, nor by Retry', async () => {
      await using stage = await ImportStage.open({ engine, inbox: { csat_survey_enabled: true } })
      await stage.import()
      await stage.finish()
      await stage.world.helpdesk.settled()
      const [survey, ...others] = stage.answers
      assert.ok(survey && others.length === 0)
      assert.equal(survey.contentType, 'input_csat')
      await stage.world.shown(survey.id, ({ status }) => status === 'failed')
      await stage.laterThanAMinute()
      await stage.world.agent.post(`/conversations/${stage.conversation}/messages/${survey.id}/retry`)
      await stage.assertSilent(historyOnly)
    })

    test('the answer of an automation rule is not sent', async () => {
      await using stage = await ImportStage.open({ engine })
      stage.world.helpdesk.world.addAutomation('We answer within a day')
      await stage.import()
      await stage.finish()
      await stage.world.helpdesk.settled()
      assert.equal(stage.answers.length, 2)
      await stage.assertSilent(historyOnly)
    })

    for (const target of ['history', 'chat'] as const) {
      test(`the answers of a bot are not sent: during the import, right after it, and later (${target})`, async () => {
        await using stage = await ImportStage.open({ engine, target })
        await stage.import()
        await stage.botAnswers('an answer during the import')
        await stage.finish()
        await stage.botAnswers('an answer right after it')
        await stage.laterThanAMinute()
        if (target === 'history') await stage.botAnswers('an answer later')
        await stage.assertSilent(target === 'history' ? historyOnly : imported)
        if (target === 'history') return
        await stage.botAnswers('a new answer in the conversation of the chat')
        await stage.world.received('a new answer in the conversation of the chat')
      })
    }

    test('nothing is assigned to an agent, and nothing is unread', async () => {
      await using stage = await ImportStage.open({ engine, inbox: { enable_auto_assignment: true } })
      const { helpdesk, desk } = stage.world
      const agent = helpdesk.world.addAgent({ name: 'Olga' })
      await stage.change('POST', '/inbox_members', { inbox_id: 1, user_ids: [agent.id] })
      helpdesk.world.setOnline(agent.id, true)
      await stage.import()
      await stage.finish()
      await helpdesk.settled()
      const { status, assigneeId } = stage.seen()
      assert.deepEqual([status, assigneeId], ['resolved', null])
      const { body } = await desk.get(`/conversations/${stage.conversation}`)
      assert.equal(body['unread_count'], 0)
      await stage.assertSilent(historyOnly)
    })
  })

  describe(`a History conversation, on ${engine}`, { concurrency: 2 }, () => {
    test("an agent's message is sent a minute later, and the customer's answer goes into the live conversation", async () => {
      await using stage = await ImportStage.open({ engine })
      const { world, conversation, chat } = stage
      await stage.import()
      await stage.finish()
      const early = await world.write('do you still want it?', {}, conversation)
      await world.shown(early, ({ status }) => status === 'failed')
      // A minute that passes during a request to the helpdesk would end the request: then the outcome is not known.
      await waitUntil('the service knows that the failure is shown', async () => {
        const { query } = world.service.database
        const row = query.selectFrom('outbox').select('shown').where('message_id', '=', early)
        return (await world.service.database.read(row)).some(({ shown }) => shown === 'failed' || shown === 'told')
      })
      await stage.laterThanAMinute()
      await world.agent.post(`/conversations/${conversation}/messages/${early}/retry`)
      await world.received('do you still want it?')
      await world.write('it is cheaper now', {}, conversation)
      await world.received('it is cheaper now')
      const answer = await world.arrived(world.bob.text(world.phone, 'yes, please'))
      assert.equal(answer.conversationId, chat.live.id)
      assert.equal(stage.seen().status, 'resolved')
    })

    for (const mode of ['new', 'reopen'] as const) {
      test(`new messages never go into it in the mode ${mode}, also when our database has forgotten it`, async () => {
        const environment = { SERVICE_CONVERSATION_MODE: mode }
        await using stage = await ImportStage.open({ engine, environment })
        const { world, conversation, chat } = stage
        await stage.import()
        const forget = async () => {
          const { query } = world.service.database
          await world.service.database.write(query.deleteFrom('conversations'), query.deleteFrom('conversation_chats'))
          await world.restart()
        }
        await forget()
        const during = await world.arrived(world.bob.text(world.phone, 'while the import is pending'))
        assert.equal(during.conversationId, chat.live.id)
        await stage.finish()
        await stage.change('POST', `/conversations/${chat.live.id}/toggle_status`, { status: 'resolved' })
        await forget()
        const after = await world.arrived(world.bob.text(world.phone, 'when both are resolved'))
        assert.notEqual(after.conversationId, conversation)
        assert.equal(after.conversationId === chat.live.id, mode === 'reopen')
        const { status, contentAttributes } = await stage.botAnswers('an answer to the history')
        assert.equal(status, 'failed')
        assert.match(String(contentAttributes['external_error']), /422|only messages that a person/)
        assert.deepEqual(world.texts(), [])
      })
    }
  })
}
