// Applies the faults to requests, before and after their handlers.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { crashed, RailsError, throttled } from '../desk/rails-error.ts'
import type { RequestFault } from '../faults/fault-plan.ts'
import { tokenOf } from './authenticate.ts'
import type { HttpApp } from './http-app.ts'
import type { Office } from './office.ts'
import { notesOn } from './request-notes.ts'

/** The limit of rack-timeout. A slower request gets 500. */
const serviceTimeoutMs = 15_000

/** The answering process is gone: it commits nothing more and sends no answer. */
export class RequestLost extends Error {}

export class FaultGate {
  readonly #office: Office
  readonly #sleepers = new Set<(lost: RequestLost) => void>()

  constructor(office: Office) {
    this.#office = office
  }

  guard(app: HttpApp): void {
    app.addHook('onRequest', async (request, reply) => this.#atTheDoor(request, reply))
    app.addHook('preHandler', async (request) => this.#beforeCommit(request))
    app.addHook('onSend', async (request, reply, payload) => this.#beforeAnswer(request, reply, payload))
  }

  /** The number of requests that a fault delays at the moment. */
  get held(): number {
    return this.#sleepers.size
  }

  /** Loses the delayed requests, as a restart does. */
  dropWaiting(): void {
    for (const wake of [...this.#sleepers]) wake(new RequestLost('the server restarted'))
  }

  async #atTheDoor(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const path = request.url.split('?')[0] ?? ''
    if (!/^\/(api|public|rails)\//.test(path)) return
    const { settings } = this.#office.desk
    const isAgent = this.#office.agentTokens.has(tokenOf(request, settings.dropUnderscoreHeaders) ?? '')
    const fault = this.#office.faults.strike({ method: request.method, path, isAgent })
    if (!fault) return
    notesOn(request).fault = fault
    if (fault.kind === 'status' && !fault.afterCommit) throw answerOf(fault.status)
    if (fault.kind === 'answer') throw new RailsError(fault.status, fault.body)
    if (fault.kind === 'cut' && !fault.afterCommit) cut(request, reply)
    return Promise.resolve()
  }

  async #beforeCommit(request: FastifyRequest): Promise<void> {
    const notes = notesOn(request)
    const { fault } = notes
    const now = this.#office.desk.clock.now()
    notes.beganAt = now
    if (fault?.kind === 'slow') await this.#sleepOrCrash(fault.ms)
    if (fault?.kind !== 'timeout') return
    if (fault.commit === 'never') await this.#sleepOrCrash(serviceTimeoutMs)
    if (fault.commit !== 'late') return
    // The row has its id and its time long before its commit makes it visible.
    if (isNewMessage(request)) notes.begun = { id: this.#office.desk.state.messages.reserve(), createdAt: now }
    await this.#sleep(this.#commitDelay(fault, request))
  }

  async #beforeAnswer(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
    const { fault, beganAt } = notesOn(request)
    if (beganAt === undefined || !fault) return payload
    if (fault.kind === 'cut' && fault.afterCommit) cut(request, reply)
    if (fault.kind === 'status' && fault.afterCommit) return replaced(reply, answerOf(fault.status))
    if (fault.kind !== 'timeout' || fault.commit === 'never') return payload
    await this.#sleep(beganAt + serviceTimeoutMs - this.#office.desk.clock.now())
    return replaced(reply, crashed())
  }

  #commitDelay(fault: RequestFault & { kind: 'timeout' }, request: FastifyRequest): number {
    return this.#office.desk.choices.between(fault.commitMs ?? [0, 14_900], 'commit', request.id)
  }

  async #sleepOrCrash(ms: number): Promise<void> {
    await this.#sleep(Math.min(ms, serviceTimeoutMs))
    if (ms >= serviceTimeoutMs) throw crashed()
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = (lost?: RequestLost) => {
        cancel()
        this.#sleepers.delete(wake)
        if (lost) reject(lost)
        else resolve()
      }
      const cancel = this.#office.desk.clock.after(Math.max(ms, 0), () => {
        wake()
      })
      this.#sleepers.add(wake)
      this.#office.watch.changed()
    })
  }
}

function isNewMessage({ method, routeOptions }: FastifyRequest): boolean {
  return method === 'POST' && routeOptions.url?.endsWith('/messages') === true
}

function answerOf(status: number): RailsError {
  if (status === 429) return throttled()
  return status === 500 ? crashed() : new RailsError(status, { status, error: 'a fault of the simulator' })
}

function replaced(reply: FastifyReply, { status, body }: RailsError): string {
  void reply.code(status)
  return typeof body === 'string' ? body : JSON.stringify(body)
}

function cut(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack()
  request.raw.socket.destroy()
}
