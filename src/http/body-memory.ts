// Bounds the memory of request bodies that are read at once. A small body never waits: a connection has one request at a
// time, so the limit of connections bounds all small bodies together, and large bodies of an attacker do not hold up
// ordinary callbacks.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { BridgeError } from '../core/errors.ts'
import { noteBufferGarbage } from '../lib/buffer-garbage.ts'
import type { Clock } from '../lib/clock.ts'

const smallBytes = 64 * 1024
const leastTotalBytes = 32 * 1024 ** 2
/** While others wait, a body must be complete after this time. Callbacks of this size are rare. */
const slowMs = 500

type Waiting = { bytes: number; admit: () => void }
type Admitted = { bytes: number; since: number; request: FastifyRequest; free: () => void }

export class BodyMemory {
  readonly #clock: Clock
  readonly #totalBytes: number
  /** In the order of arrival. */
  readonly #waiting = new Set<Waiting>()
  /** In the order of admission. */
  readonly #admitted = new Set<Admitted>()
  #takenBytes = 0

  /** `largestBody` is the largest body limit of a route. */
  constructor({ clock, largestBody }: { clock: Clock; largestBody: number }) {
    this.#clock = clock
    this.#totalBytes = Math.max(leastTotalBytes, largestBody)
  }

  /** Throws when there is no room for the body of the request. The room is freed with the answer. */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const bytes = neededBytes(request, reply)
    if (bytes === 0) return
    if (!this.#take(bytes)) throw noRoom()
    this.#freeWithAnswer(bytes, request, reply)
  }

  /** Like admit, but waits for room at most `waitMs`. Bodies that come slowly are cut meanwhile. */
  async admitInTime(request: FastifyRequest, reply: FastifyReply, waitMs: number): Promise<void> {
    const bytes = neededBytes(request, reply)
    if (bytes === 0) return
    if (!this.#take(bytes) && !(await this.#wait(bytes, waitMs, reply))) throw noRoom()
    this.#freeWithAnswer(bytes, request, reply)
  }

  /** A body that fits overtakes larger ones that wait. */
  #take(bytes: number): boolean {
    if (this.#takenBytes + bytes > this.#totalBytes) return false
    this.#takenBytes += bytes
    return true
  }

  /** Resolves to false when the time is over or the caller has hung up. */
  #wait(bytes: number, waitMs: number, { raw }: FastifyReply): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isAdmitted: boolean) => {
        cancel()
        cancelCut()
        raw.off('close', giveUp)
        this.#waiting.delete(waiting)
        resolve(isAdmitted)
      }
      const giveUp = () => {
        end(false)
      }
      const waiting = {
        bytes,
        admit: () => {
          end(true)
        },
      }
      const cut = () => {
        cancelCut = this.#clock.after(slowMs, cut)
        this.#cutSlow(bytes)
      }
      const cancel = this.#clock.after(waitMs, giveUp)
      let cancelCut = this.#clock.after(slowMs, cut)
      raw.once('close', giveUp)
      this.#waiting.add(waiting)
    })
  }

  /** Hangs up on the bodies that are longest incomplete, until there is room for so many bytes. */
  #cutSlow(bytes: number): void {
    const now = this.#clock.monotonic()
    for (const { since, request, free } of this.#admitted) {
      if (this.#takenBytes + bytes <= this.#totalBytes || now - since < slowMs) break
      if (request.raw.complete) continue
      request.log.info('a body that came slowly was cut, because others wait')
      request.raw.destroy()
      free()
    }
    this.#admitNext()
  }

  #freeWithAnswer(bytes: number, request: FastifyRequest, reply: FastifyReply): void {
    const { socket } = request.raw
    const readBefore = socket.bytesRead
    const free = () => {
      if (!this.#admitted.delete(admitted)) return
      this.#takenBytes -= bytes
      // The pieces that came, and the whole made of them. A body may be shorter than the room it has taken.
      noteBufferGarbage(2 * Math.min(bytes, socket.bytesRead - readBefore))
    }
    const admitted = { bytes, since: this.#clock.monotonic(), request, free }
    this.#admitted.add(admitted)
    reply.raw.once('close', () => {
      free()
      this.#admitNext()
    })
  }

  #admitNext(): void {
    for (const { bytes, admit } of this.#waiting) if (this.#take(bytes)) admit()
  }
}

function noRoom(): BridgeError {
  return new BridgeError('SERVICE_OVERLOADED', 'too many large bodies come at once, try again in some seconds')
}

/** 0 when the request needs no room, or when its answer is over: then no event would free the room. */
function neededBytes(request: FastifyRequest, { raw }: FastifyReply): number {
  const bytes = bodyBytes(request)
  return bytes <= smallBytes || isTooLarge(request) || raw.closed ? 0 : bytes
}

/** A body whose length is not declared counts as the largest that the route takes. */
function bodyBytes({ headers, routeOptions }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return routeOptions.bodyLimit
  return declaredBytes(headers)
}

/** Fastify refuses such a body by its declared length, without reading it. */
export function isTooLarge({ headers, routeOptions }: FastifyRequest): boolean {
  return declaredBytes(headers) > routeOptions.bodyLimit
}

function declaredBytes(headers: FastifyRequest['headers']): number {
  return Number(headers['content-length'] ?? 0)
}
