// Runs the tests of one room, or of all rooms inside it: `npm run test:room -- bridge/outbound`.

import { globSync } from 'node:fs'
import { dirname } from 'node:path'
import { runNodeTests } from './node-tests.ts'

const files = globSync('{src,test}/**/*.test.ts').map((file) => file.replaceAll('\\', '/'))
const rooms = new Set(files.flatMap(roomsOf))

const [argument = '', ...flags] = process.argv.slice(2)
const room = argument.replace(/\/+$/, '')
if (!rooms.has(room)) {
  const problem = room ? `There is no room "${room}" with tests.` : 'Name a room: npm run test:room -- bridge/outbound.'
  console.error(`${problem} The rooms are:\n${[...rooms].sort().join('\n')}`)
  process.exit(1)
}
const own = files.filter((file) => file.startsWith(`src/${room}/`) || file.startsWith(`test/${room}/`))
await runNodeTests({ files: own, flags })

/** `src/bridge/outbound/send/x.test.ts` belongs to bridge, bridge/outbound and bridge/outbound/send. */
function roomsOf(file: string): string[] {
  const parts = dirname(file).split('/').slice(1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}
