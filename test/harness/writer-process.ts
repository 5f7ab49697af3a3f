// A process that writes rows as fast as it can and reports each one that it was told is stored; made to be killed.
// Arguments: database URL, how many writers, and "early" to report before storage has answered (the broken way).

import { databaseUrl } from '../../src/config/setting-formats.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { sampleInstanceColumns } from './samples.ts'
import { silentLog } from './logs.ts'

const [url = '', writers = '1', mode] = process.argv.slice(2)
const location = databaseUrl.parse(url)
if (!location) throw new Error(`${url} is no database`)
const database = await openDatabase({ location, encryptionKeys: [], log: silentLog })

const report = (name: string) => process.stdout.write(`${name}\n`)

async function writeForever(writer: number): Promise<void> {
  for (let count = 0; ; count++) {
    const name = `${process.pid}-${writer}-${count}`
    if (mode === 'early') report(name)
    await database.write(database.query.insertInto('instances').values(sampleInstanceColumns(name)))
    if (mode !== 'early') report(name)
  }
}

await Promise.all(Array.from({ length: Number(writers) }, (_, writer) => writeForever(writer)))
