// Pairing and connection of an instance: QR image, waiting, refresh, restart, logout, pairing code.

import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Caller } from '../../core/audit.ts'
import { BridgeError } from '../../core/errors.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { LinkedAccount, LogoutOutcome } from '../../instances/linked-account.ts'
import { waitReady } from '../../instances/wait-ready.ts'
import type { Clock } from '../../lib/clock.ts'
import type { HttpApp } from '../http-app.ts'
import { drawQr } from '../qr-picture.ts'
import type { OwnSettingRules } from '../own-settings.ts'
import { detailWith, LastErrorCode, PendingLogout, pendingLogoutAdvice, State, toDetail } from '../instance-view.ts'
import { InstanceParams, nullable, responses } from '../schemas.ts'

const defaultWaitSeconds = 120
const maxWaitSeconds = 600
const loggedOut = 'the instance is logged out: POST …/refresh-qr pairs it again'

export type PairingDeps = {
  instances: InstanceRegistry
  clock: Clock
  /** The settings that an instance can have of its own. */
  ownSettings: OwnSettingRules
}

const Done = Type.Object({ message: Type.String(), state: State, pending_logout: PendingLogout })
const TimedOut = Type.Object(
  {
    error: Type.String(),
    error_code: Type.String(),
    state: State,
    jid: nullable(Type.String()),
    last_error: nullable(Type.String()),
    last_error_code: LastErrorCode,
    qr: Type.Object({
      available: Type.Boolean(),
      image: Type.Optional(Type.String({ description: 'data: URL of a PNG' })),
    }),
  },
  { title: 'WaitTimedOut' },
)

const NoQr = Type.Object(
  {
    error: Type.String(),
    error_code: Type.String(),
    state: Type.Optional(State),
    last_error: Type.Optional(nullable(Type.String())),
    last_error_code: Type.Optional(LastErrorCode),
  },
  { title: 'NoQr' },
)

const logoutAnswers: Record<LogoutOutcome, { message: string; pending_logout?: true }> = {
  no_session: { message: 'there is no session to log out' },
  told: { message: 'logged out' },
  pending: { message: `logged out here. ${pendingLogoutAdvice}`, pending_logout: true },
}

export function addPairingRoutes(app: HttpApp, deps: PairingDeps): void {
  addQrRoute(app, deps)
  addWaitRoute(app, deps)
  addCommandRoutes(app, deps)
  addPairingCodeRoute(app, deps)
}

const about = (operationId: string, summary: string) => ({ operationId, summary, tags: ['pairing'] })

function addQrRoute(app: HttpApp, { instances }: PairingDeps): void {
  app.get(
    '/api/instances/:name/qr',
    {
      schema: {
        ...about('getQr', 'The QR code to scan, as a PNG; format=text gives its text'),
        params: InstanceParams,
        querystring: Type.Object({
          format: Type.Optional(Type.String({ pattern: '^(png|text)$', description: 'png or text' })),
        }),
        produces: ['image/png'],
        response: responses({ 200: Type.Unsafe<string | Buffer>({ type: 'string', format: 'binary' }), 404: NoQr }),
      },
    },
    async ({ params, query }, reply) => {
      const account = instances.get(params.name)
      const { qr } = account
      if (!qr) {
        const error = 'no QR code is waiting to be scanned: POST …/refresh-qr asks for one'
        return reply.code(404).send({ error, error_code: 'SERVICE_NO_QR', ...describeState(account) })
      }
      void reply.header('cache-control', 'no-store')
      if (query.format === 'text') return reply.type('text/plain; charset=utf-8').send(qr.text)
      return reply.type('image/png').send(await drawQr(qr.text))
    },
  )
}

function addWaitRoute(app: HttpApp, { instances, clock, ownSettings }: PairingDeps): void {
  const stopping = new AbortController()
  app.addHook('preClose', (done) => {
    stopping.abort()
    done()
  })
  app.get(
    '/api/instances/:name/wait-ready',
    {
      schema: {
        ...about('waitReady', 'Answers when the instance is ready or logged out, at the latest after timeout seconds'),
        params: InstanceParams,
        querystring: Type.Object({
          timeout: Type.Optional(
            Type.String({ pattern: '^0*[1-9]\\d{0,8}$', description: 'a whole number of seconds, at least 1' }),
          ),
        }),
        response: responses({ 200: detailWith(ownSettings), 408: TimedOut }, 404),
      },
    },
    async (request, reply) => {
      const { name } = request.params
      const seconds = Math.min(Number(request.query.timeout ?? defaultWaitSeconds), maxWaitSeconds)
      const noLonger = AbortSignal.any([whenGone(reply), stopping.signal])
      const outcome = await waitReady({ registry: instances, clock }, name, seconds * 1000, noLonger)
      const account = instances.get(name)
      if (outcome === 'ready') return toDetail(ownSettings, account, clock.now())
      if (stopping.signal.aborted) {
        throw new BridgeError('SERVICE_STOPPING', 'the service stops; ask again when it has started')
      }
      const why = outcome === 'logged_out' ? loggedOut : `not ready within ${seconds} s`
      return reply.code(408).send({ error: why, error_code: 'SERVICE_WAIT_TIMEOUT', ...(await describeWait(account)) })
    },
  )
}

function addCommandRoutes(app: HttpApp, { instances }: PairingDeps): void {
  const commands = {
    'refresh-qr': {
      about: about('refreshQr', 'Ask for a new QR code'),
      run: async (account: LinkedAccount) => {
        await account.requestPairing()
        return account.state === 'qr_pending' ? 'a new QR code is on its way' : 'nothing to pair in this state'
      },
    },
    restart: {
      about: about('restartInstance', 'Close and reopen the connection, keeping the session'),
      run: async (account: LinkedAccount) =>
        (await account.restart()) ? 'restarting' : 'there is no session to restart: POST …/refresh-qr pairs one',
    },
    logout: {
      about: about('logoutInstance', 'Invalidate the session on the network; the instance stays'),
      run: async (account: LinkedAccount, actor: Caller) => logoutAnswers[await account.logout(actor)],
    },
  }
  for (const [path, command] of Object.entries(commands)) {
    app.post(
      `/api/instances/:name/${path}`,
      { schema: { ...command.about, params: InstanceParams, response: responses({ 200: Done }, 404) } },
      async ({ params, actor }) => {
        const account = instances.get(params.name)
        const answer = await command.run(account, actor)
        return { ...(typeof answer === 'string' ? { message: answer } : answer), state: account.state }
      },
    )
  }
}

function addPairingCodeRoute(app: HttpApp, { instances, clock }: PairingDeps): void {
  app.post(
    '/api/instances/:name/pairing-code',
    {
      schema: {
        ...about('requestPairingCode', 'A code to type on the phone instead of scanning; only while pairing is open'),
        params: InstanceParams,
        body: Type.Object({
          phone: Type.String({ pattern: '^\\+?\\d{6,15}$', description: 'a phone number in E.164' }),
        }),
        response: responses(
          { 200: Type.Object({ code: Type.String(), expires_in_seconds: Type.Integer() }) },
          404,
          409,
        ),
      },
    },
    async ({ params, body }) => {
      const asked = instances.get(params.name).requestPairingCode(body.phone.replace('+', ''))
      if (!asked) throw new BridgeError('SERVICE_NOT_PAIRING', 'no pairing is open: POST …/refresh-qr opens one')
      const { code, expiresAt } = await asked.catch((cause: unknown) => {
        if (cause instanceof BridgeError) throw cause
        throw new BridgeError('SERVICE_NETWORK_FAILED', 'the network did not give a pairing code, try again', { cause })
      })
      return { code, expires_in_seconds: Math.max(0, Math.floor((expiresAt - clock.now()) / 1000)) }
    },
  )
}

async function describeWait({ state, record, qr }: LinkedAccount) {
  const image = qr && `data:image/png;base64,${(await drawQr(qr.text)).toString('base64')}`
  const described = { ...describeState({ state, record }), jid: record.jid }
  return { ...described, qr: image ? { available: true, image } : { available: false } }
}

function describeState({ state, record }: Pick<LinkedAccount, 'state' | 'record'>) {
  return { state, last_error: record.lastError, last_error_code: record.lastErrorCode }
}

/** Aborts when the caller hangs up. */
function whenGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => {
    gone.abort()
  })
  return gone.signal
}
