// A reporter of node's test runner: writes the files that node started and in which a test failed, one a line. Such a file may be a
// group of test files. A test may stand in a helper, and a process that crashes runs only a part of its files: so the whole group
// has to run again. After an interrupt no file is named: the run is to end.

type TestEvent = { type: string; data: { entryFile?: string; file?: string } }

export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Set<string>()
  for await (const { type, data } of events) {
    if (type === 'test:interrupted') return
    const file = data.entryFile ?? data.file
    if (type === 'test:fail' && file !== undefined) files.add(file)
  }
  yield [...files].map((file) => `${file}\n`).join('')
}
