// The recordings of a real Chatwoot: one request with its answer, or a fact about the requests before it.

import { readFileSync } from 'node:fs'

export type Json = Record<string, unknown>

export type RecordedRequest = {
  method: string
  path: string
  /** A token in angle brackets, `none`, or any other text for a token that does not exist. */
  auth?: string
  headers?: Record<string, string>
  body?: Json | string
  multipart?: unknown
}

export type Recording = Json & {
  what: string
  request?: RecordedRequest
  status?: number
  answer?: unknown
  callbacks?: Json[]
}

export function readRecordings(file: string): Recording[] {
  const url = new URL(`../recorded/${file}.json`, import.meta.url)
  return JSON.parse(readFileSync(url, 'utf8')) as Recording[]
}

/** The recordings shorten long texts to `xxx… (150000 chars)`. */
export function expand(text: string): string {
  const [, start = '', length] = /^(.*)… \((\d+) chars\)$/s.exec(text) ?? []
  return length === undefined ? text : start.padEnd(Number(length), start.at(-1))
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function asObject(value: unknown): Json {
  return isObject(value) ? value : {}
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
