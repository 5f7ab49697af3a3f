// Invites people who cannot be added to a group by the account: they get a message with which they can join.
//
// An invitation is a message to a person who may never have written to the account. The caller of the API asks for it, and
// the same limits hold as for messages of agents: a restricted account does not write first, and SERVICE_OUTGOING_RATE_LIMIT
// counts invitations. An invitation never waits in the outbox. If it cannot be sent at once, the person is reported as failed.

import type { GroupInvitation, MemberResult } from '../../core/group-administration.ts'
import type { Jid } from '../../core/ids.ts'
import type { Locale } from '../../core/reasons/sentences.ts'
import type { Log } from '../../lib/log.ts'
import type { GroupDirectory } from '../people/group-directory.ts'
import { readySession } from './group-session.ts'
import type { GroupAdmin, GroupSession, GroupSessionOf } from './group-session.ts'
import { groupTexts } from './group-texts.ts'
import { toOutcome } from './member-outcomes.ts'
import type { MemberOutcome } from './member-outcomes.ts'

/** The right to send one invitation now. The caller reports what became of it. */
export type InvitationTurn = {
  address: Jid
  /** No earlier message of the chat is known. */
  isFirst: boolean
  sent: () => void
  failed: (error: unknown) => Promise<void>
}

export type InvitationGuard = {
  /** Null when the account may not write to this person now. Rejects when the person has no address. */
  admit(who: GroupAdmin, address: Jid, session: GroupSession): Promise<InvitationTurn | null>
}

type Deps = {
  sessionOf: GroupSessionOf
  directory: Pick<GroupDirectory, 'find'>
  guard: InvitationGuard
  locale: Locale
  log: Log
}

type Place = { who: GroupAdmin; groupId: string }

export class GroupInvitations {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The outcomes are in the order of the results. The messages leave one after the other. */
  async invite(place: Place, results: readonly MemberResult[]): Promise<MemberOutcome[]> {
    const outcomes: MemberOutcome[] = []
    for (const result of results) {
      const { address, code, invitation } = result
      const isInvited = invitation !== null && (await this.#send(place, address, invitation))
      outcomes.push(isInvited ? { address, status: 'invited', code } : toOutcome(result))
    }
    return outcomes
  }

  /** True when the network has acknowledged the message. */
  async #send(place: Place, address: Jid, { code, expiresAt }: GroupInvitation): Promise<boolean> {
    const { sessionOf, directory, guard, locale, log } = this.#deps
    const { who, groupId } = place
    try {
      const session = readySession(sessionOf, who.instance)
      const turn = await guard.admit(who, address, session)
      if (!turn) return false
      const subject = (await directory.find(who.instance, groupId))?.subject ?? ''
      const text = groupTexts[locale].invitation
      const content = { type: 'group_invite', groupId, subject, code, expiresAt, text } as const
      await sendInTurn(turn, () =>
        session.send(turn.address, content, session.newMessageId(), { isFirst: turn.isFirst }),
      )
      return true
    } catch (err) {
      log.warn({ err, instance: who.instance }, 'an invitation to a group was not sent')
      return false
    }
  }
}

async function sendInTurn(turn: InvitationTurn, send: () => Promise<unknown>): Promise<void> {
  try {
    await send()
  } catch (error) {
    await turn.failed(error)
    throw error
  }
  turn.sent()
}
