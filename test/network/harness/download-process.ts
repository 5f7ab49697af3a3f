// Downloads a small file and then a large one, and says how much memory the large one took more.

import { writeFileSync } from 'node:fs'
import type { FileRef } from '../../../src/core/message.ts'
import { Egress } from '../../../src/lib/egress/egress.ts'
import { publicOnly } from '../../../src/lib/egress/policy.ts'
import { downloadFile } from '../../../src/network/files/download.ts'

const [small, large] = JSON.parse(process.argv[2] ?? '[]') as [FileRef, FileRef]
await using egress = new Egress({ policy: publicOnly() })
const source = { egress, agent: undefined, isElsewhere: true }

async function bytesOf(file: FileRef): Promise<number> {
  let size = 0
  for await (const chunk of await downloadFile(file, source, new AbortController().signal))
    size += (chunk as Buffer).length
  return size
}

await bytesOf(small)
const before = process.resourceUsage().maxRSS
const size = await bytesOf(large)
writeFileSync(1, JSON.stringify({ size, grownBy: (process.resourceUsage().maxRSS - before) * 1024 }))
