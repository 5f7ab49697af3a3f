import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Payload } from './payload.ts'
import { readSurvey, readSurveyLink } from './survey-text.ts'

const link = 'https://desk.example/survey/responses/0b1c'
const sentence = `Please rate this conversation, ${link}`
const survey = (content: string | null, messages: unknown[] = []) =>
  readSurvey(Payload.of({ id: 5, content, conversation: { messages } }))

test('a survey consists of its own text and of its link', () => {
  const whole = { content: `How was it?\n${link}`, lacksLink: false }
  assert.deepEqual(survey(sentence, [{ id: 5, content: 'How was it?' }]), whole)
  assert.deepEqual(survey(sentence, [{ id: 5, content: `Rate us: ${link}` }]), {
    content: `Rate us: ${link}`,
    lacksLink: false,
  })
})

test('the text of another message is not taken for the text of the survey', () => {
  for (const messages of [[], [{ id: 6, content: 'newer' }], [{ id: 5, content: null }], [{ content: 'no id' }]]) {
    assert.deepEqual(survey(sentence, messages), { content: sentence, lacksLink: false })
  }
})

test('a survey without a link lacks it', () => {
  assert.deepEqual(survey('Please rate the conversation'), { content: 'Please rate the conversation', lacksLink: true })
  assert.deepEqual(survey(null), { content: '', lacksLink: true })
  assert.deepEqual(survey('see /survey/responses/ there').lacksLink, true)
})

test('the link of a survey is made of the uuid of the conversation and of the address that pictures show', () => {
  const base = 'http://rails:3000'
  assert.equal(readSurveyLink({ uuid: '0b1c' }, base), `${base}/survey/responses/0b1c`)
  const thumbnail = 'https://desk.example/rails/active_storage/representations/redirect/x/photo.jpg'
  const meta = { sender: { thumbnail: '' }, assignee: { thumbnail } }
  assert.equal(readSurveyLink({ uuid: '0b1c', meta }, base), link)
  const elsewhere = { sender: { thumbnail: 'https://www.gravatar.com/avatar/1' } }
  assert.equal(readSurveyLink({ uuid: '0b1c', meta: elsewhere }, base), `${base}/survey/responses/0b1c`)
  for (const answer of [null, {}, { uuid: 5 }, { uuid: '' }, { uuid: '../x' }])
    assert.equal(readSurveyLink(answer, base), undefined)
})
