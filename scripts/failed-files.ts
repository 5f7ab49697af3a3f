// A reporter of node's test runner: writes the files of all tests that failed, one a line.

type TestEvent = { type: string; data: { file?: string } }

export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Set<string>()
  for await (const { type, data } of events) if (type === 'test:fail' && data.file) files.add(data.file)
  yield [...files].map((file) => `${file}\n`).join('')
}
