// Checks that histories of 200 MB pass in pieces with little memory. The reading process runs on its own.
// Runs alone: it measures memory.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { deflateSync } from 'node:zlib'
import { SimNetwork } from '../../../sim/network/sim-network.ts'
import { encodeVarint } from '../../../src/network/library/wire-fields.ts'
import { proto } from '../../../src/network/library/library.ts'
import { authorityFile } from '../../harness/media-authority.ts'
import { filedHistory, kept, Kind } from './harness/history-files.ts'

const script = fileURLToPath(new URL('./harness/history-process.ts', import.meta.url))
const megabyte = 1024 * 1024
const mostGrowth = 64 * megabyte
/** What may stay in use when all is read. */
const mostUsed = 16 * megabyte
const perBlock = 400

/** About a megabyte of messages of one chat, each with a caption and a preview of its picture. */
function block(chat: string): Buffer {
  const jpegThumbnail = Buffer.from('preview '.repeat(280))
  const media = { mediaKey: Buffer.alloc(32, 7), directPath: '/v/x', mimetype: 'image/jpeg', jpegThumbnail }
  const messages = Array.from({ length: perBlock }, (_, n) => {
    const imageMessage = { ...media, caption: `caption ${n} `.repeat(40) }
    const { message } = kept(chat, `3A${n}`.padEnd(20, '0'), 1_772_000_000 - n)
    return { message: { ...message, message: { imageMessage } } }
  })
  return Buffer.from(proto.Conversation.encode({ id: '', messages }).finish())
}

function chatOf(id: string, blocks: number): Buffer {
  const body = [Buffer.from(proto.Conversation.encode({ id }).finish()), ...Array<Buffer>(blocks).fill(block(id))]
  const length = body.reduce((sum, { length: one }) => sum + one, 0)
  return Buffer.concat([Buffer.of(0x12), encodeVarint(length), ...body])
}

function packed(chats: Buffer[]): Buffer {
  return deflateSync(Buffer.concat([Buffer.of(0x08, 0x03), ...chats]), { level: 1 })
}

function noticeOf(sim: SimNetwork, chats: Buffer[]): string {
  const { message } = filedHistory(sim, Kind.RECENT, packed(chats))
  const key = { remoteJid: '5511999990001@s.whatsapp.net', id: 'H', fromMe: true }
  return Buffer.from(proto.WebMessageInfo.encode({ key, message }).finish()).toString('base64')
}

test('200 MB of history for two accounts at once take at most 64 MB more memory', async () => {
  await using sim = await SimNetwork.start()
  await using owned = new AsyncDisposableStack()
  const numbered = (n: number) => `${5_511_888_880_000 + n}@s.whatsapp.net`
  const blocksIn = (megabytes: number) => Math.ceil((megabytes * megabyte) / block(numbered(1)).length)
  const oneChat = [noticeOf(sim, [chatOf(numbered(1), blocksIn(100))])]
  const files = Array.from({ length: 4 }, (_, file) => {
    const chats = Array.from({ length: blocksIn(25) }, (__, n) => numbered(file * 100 + n))
    return noticeOf(
      sim,
      chats.map((id) => chatOf(id, 1)),
    )
  })
  const task = { host: sim.media.host, small: noticeOf(sim, [chatOf(numbered(1), 1)]), large: [oneChat, files] }
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: await authorityFile(sim, owned) }
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(task)], { env })
  const { seen = 0, pieces = 0, largestPiece = 0, ...grown } = JSON.parse(stdout) as Record<string, number>
  const blocks = blocksIn(100) + 4 * blocksIn(25)
  assert.equal(seen, blocks * perBlock)
  assert.ok(pieces > blocks, `${pieces} pieces`)
  assert.ok(largestPiece <= 200, `${largestPiece} messages in a piece`)
  const { usedGrowth = 0, residentGrowth = 0 } = grown
  assert.ok(usedGrowth < mostUsed, `${usedGrowth / megabyte} MB more stay in use`)
  assert.ok(residentGrowth < mostGrowth, `${residentGrowth / megabyte} MB more are resident`)
})
