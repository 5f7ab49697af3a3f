// Two records of a person can become one: their messages are found by sender, too.

import type { Migration } from './migration.ts'

const indexes = ['CREATE INDEX message_map_by_sender ON message_map (instance, sender)']

export const senders: Migration = { version: 9, name: 'senders', besides: true, sqlite: indexes, postgres: indexes }
