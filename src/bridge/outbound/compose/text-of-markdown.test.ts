// Runs alone: it measures CPU time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf, cpuMsUntil } from '../../../../test/harness/linear-time.ts'
import { markdownToText } from './markdown-to-text.ts'
import { textOfMarkdown } from './text-of-markdown.ts'

test('a long text is converted like a short one', async () => {
  assert.equal(await textOfMarkdown('**bold**'), '*bold*')
  assert.equal(await textOfMarkdown('**bold**\n'.repeat(1000)), '*bold*\n'.repeat(1000))
})

test('the longest text of an agent takes little time of the event loop', async () => {
  const markdown = '*_~'.repeat(21_845)
  // Starts the thread.
  const text = await textOfMarkdown(markdown)
  const directMs = Math.min(...[1, 2, 3].map(() => cpuMsOf(markdownToText, markdown)))
  const besideMs = await cpuMsUntil(() => textOfMarkdown(markdown))
  assert.equal(text, markdownToText(markdown))
  assert.ok(besideMs < directMs / 4, `${besideMs} ms of ${directMs} ms`)
})
