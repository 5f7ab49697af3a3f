// The endpoints that import the messages that the phone has from before.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import { readMemberAddress } from '../../bridge/groups/member-addresses.ts'
import { parseChat } from '../../core/address.ts'
import type { Chat } from '../../core/address.ts'
import type { Caller } from '../../core/audit.ts'
import { BridgeError } from '../../core/errors.ts'
import { clampHistoryDays, longestHistoryDays } from '../../core/jobs/history-jobs.ts'
import type { ImportResult } from '../../core/jobs/history-jobs.ts'
import { isHistoryJob } from '../../core/jobs/job.ts'
import { noAnchor } from '../../history/requests/history-imports.ts'
import type { HistoryImports, ImportingAccount, ImportRequest } from '../../history/requests/history-imports.ts'
import type { AddedJob } from '../../jobs/jobs.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import { orAbort } from '../../lib/abort.ts'
import type { HttpApp } from '../http-app.ts'
import { ImportedAll, ImportedChat, toImportedAll, toImportedChat } from '../jobs/history-job-view.ts'
import { StartedJob, toStartedJob } from '../jobs/job-view.ts'
import { InstanceParams, responses } from '../schemas.ts'

export type HistoryDeps = {
  instances: Pick<InstanceRegistry, 'get'>
  imports: Pick<HistoryImports, 'importChat' | 'importAll'>
  /** How many days back messages are imported when the request does not say. */
  days: number
}

const defaultCount = 50
const mostMessages = 200
const defaultSeconds = 30
const longestSeconds = 300

const chatRule = 'a jid such as 5511888880001@s.whatsapp.net or 120363000000000001@g.us, or a phone number'

const Whole = (description: string) => Type.Optional(Type.String({ pattern: '^-?\\d+$', description }))

const seconds = `how long the phone may take to answer, 1 to ${longestSeconds} seconds; ${defaultSeconds} by default`
const count = `how many older messages the phone is asked for, ${mostMessages} at most; ${defaultCount} by default`
const period = {
  days: Whole(`how many days back, 1 to ${longestHistoryDays}; SERVICE_HISTORY_IMPORT_DAYS by default`),
  media_days: Whole('files of messages of so many days are fetched; 0 by default: a notice stands for each file'),
}

const ChatQuery = Type.Object({
  chat: Type.String({ minLength: 1, maxLength: 128, description: chatRule }),
  count: Whole(`a whole number: ${count}`),
  timeout_sec: Whole(`a whole number: ${seconds}`),
  ...period,
})
const AllQuery = Type.Object({
  count_per_chat: Whole(`a whole number: ${count}`),
  timeout_per_chat: Whole(`a whole number: ${seconds}`),
  ...period,
})

const about = (operationId: string, summary: string) => ({ operationId, summary, tags: ['history'] })
const waits = 'The import goes on when the caller hangs up: GET /api/jobs shows it.'

type Wait = (added: AddedJob) => Promise<ImportResult>

export function addHistoryRoutes(app: HttpApp, deps: HistoryDeps): void {
  const stopping = new AbortController()
  app.addHook('preClose', (done) => {
    stopping.abort()
    done()
  })
  const wait: Wait = async ({ job, completed }) => {
    const stopped = () =>
      new BridgeError('SERVICE_STOPPING', `the service stops; the job ${job.id} goes on when it has started`)
    const ended = await orAbort(completed, stopping.signal, stopped)
    if (!isHistoryJob(ended) || !ended.result) throw new Error('an import has completed without a result')
    return ended.result
  }
  addChatRoute(app, deps, wait)
  addAllRoutes(app, deps, wait)
}

function addChatRoute(app: HttpApp, { instances, imports, days }: HistoryDeps, wait: Wait): void {
  app.post(
    '/api/instances/:name/history/import',
    {
      schema: {
        ...about('importChat', 'Import older messages of a chat; answers when the import has ended'),
        description: `Requests for the same chat share one import. ${waits}`,
        params: InstanceParams,
        querystring: ChatQuery,
        response: responses({ 200: ImportedChat }, 404, 409, 500),
      },
    },
    async ({ params, query, actor }) => {
      const account = accountOf(instances, params.name, actor)
      const chat = readChat(query.chat)
      const request = toRequest(query, { count: query.count, seconds: query.timeout_sec, days })
      const result = await wait(await imports.importChat(account, chat, request))
      if (result.noAnchor > 0) throw noAnchor(account)
      return toImportedChat(account.instance, result)
    },
  )
}

function addAllRoutes(app: HttpApp, { instances, imports, days }: HistoryDeps, wait: Wait): void {
  const start = (name: string, query: Static<typeof AllQuery>, actor: Caller) => {
    const request = toRequest(query, { count: query.count_per_chat, seconds: query.timeout_per_chat, days })
    return imports.importAll(accountOf(instances, name, actor), request)
  }
  app.post(
    '/api/instances/:name/history/import-all',
    {
      schema: {
        ...about('importAll', 'Import older messages of all chats; answers when the import has ended'),
        description: waits,
        params: InstanceParams,
        querystring: AllQuery,
        response: responses({ 200: ImportedAll }, 404, 409, 500),
      },
    },
    async ({ params, query, actor }) => toImportedAll(params.name, await wait(await start(params.name, query, actor))),
  )
  app.post(
    '/api/instances/:name/history/import-all-async',
    {
      schema: {
        ...about('importAllAsync', 'Start an import of all chats as a job'),
        params: InstanceParams,
        querystring: AllQuery,
        response: responses({ 202: StartedJob }, 404, 409),
      },
    },
    async ({ params, query, actor }, reply) => {
      const { job } = await start(params.name, query, actor)
      return reply.code(202).send(toStartedJob(job))
    },
  )
}

type Asked = { count: string | undefined; seconds: string | undefined; days: number }

function toRequest({ days, media_days }: Static<typeof AllQuery>, asked: Asked): ImportRequest {
  const within = (text: string | undefined, usual: number, most: number) =>
    Math.min(Math.max(Number(text ?? usual), 1), most)
  return {
    count: within(asked.count, defaultCount, mostMessages),
    timeoutMs: within(asked.seconds, defaultSeconds, longestSeconds) * 1000,
    days: clampHistoryDays(Number(days ?? asked.days)),
    mediaDays: Math.min(Math.max(Number(media_days ?? 0), 0), longestHistoryDays),
  }
}

function readChat(text: string): Chat {
  const jid = text.includes('@') ? text.trim() : readMemberAddress(text)
  const chat = jid === undefined ? undefined : parseChat(jid)
  if (!chat) throw new BridgeError('SERVICE_BAD_REQUEST', `chat must be ${chatRule}`)
  return chat
}

/** Throws SERVICE_INSTANCE_NOT_FOUND. */
function accountOf(instances: HistoryDeps['instances'], name: string, actor: Caller): ImportingAccount {
  const { name: instance, ownerTag, state, historyAskedDays: askedDays } = instances.get(name).record
  return { instance, ownerTag, state, askedDays, actor }
}
