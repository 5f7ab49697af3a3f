// Makes the histories of the history benchmark. Each history has chats of its own.

import { randomBytes } from 'node:crypto'
import type { proto } from '../sim/network/library.ts'

/** Every chat has so many messages of this length, evenly over the days before now. */
export type PastPlan = { chats: number; messages: number; days: number; textBytes: number }

type Placed = { chat: string; n: number; at: number; length: number }

const dayS = 86_400
/** Texts are parts of this. It is longer than what zlib remembers, so the texts do not compress well. */
const pool = randomBytes(768 * 1024).toString('base64')
/** Every third message is the owner's. */
const ownEvery = 3
let made = 0

/** The function makes the same chats with each call, so that a large history need not stay in memory. */
export function pastChats(plan: PastPlan): () => proto.IConversation[] {
  const [first, until] = [made, Math.floor(Date.now() / 1000)]
  made += plan.chats
  return () => Array.from({ length: plan.chats }, (_, index) => chatOf(first + index, until, plan))
}

function chatOf(number: number, until: number, { messages, days, textBytes }: PastPlan): proto.IConversation {
  const chat = `${5_511_700_000_000 + number}@s.whatsapp.net`
  const stepS = (days * dayS) / messages
  // A phone sends the newest message first.
  const placed = Array.from({ length: messages }, (_, n) => ({ n, at: Math.floor(until - 60 - stepS * n) }))
  return { id: chat, messages: placed.map((each) => ({ message: messageOf({ chat, length: textBytes, ...each }) })) }
}

function messageOf({ chat, n, at, length }: Placed): proto.IWebMessageInfo {
  const id = `3EB0${chat.slice(4, 13)}${String(n).padStart(7, '0')}`
  const start = (Number(chat.slice(6, 13)) * 7919 + n * length) % (pool.length - length)
  const key = { remoteJid: chat, fromMe: n % ownEvery === 0, id }
  return { key, messageTimestamp: at, message: { conversation: pool.slice(start, start + length) } }
}
