// Invites people who cannot be added to a group by the account: they get a message with which they can join.
//
// An invitation is a message to a person who may never have written to the account. The caller of the API asks for it, and
// the same limits hold as for messages of agents: a restricted account does not write first, and SERVICE_OUTGOING_RATE_LIMIT
// counts invitations. An invitation never waits in the outbox. If it cannot be sent at once, the person is reported as failed.

import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { GroupInvitation, MemberResult } from '../../core/group-administration.ts'
import type { Jid } from '../../core/ids.ts'
import { SendError } from '../../core/network.ts'
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
  /** Null when the account may not write to this person now, or when the person is not on the network. */
  admit(who: GroupAdmin, address: Jid, session: GroupSession): Promise<InvitationTurn | null>
}

type Deps = {
  sessionOf: GroupSessionOf
  directory: Pick<GroupDirectory, 'find'>
  guard: InvitationGuard
  settingsOf: SettingsOf
  log: Log
}

type Place = { who: GroupAdmin; groupId: string }

export class GroupInvitations {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * The outcomes are in the order of the results. The messages leave one after the other. After a failure that says nothing
   * about the person no further message is tried: each would wait for an answer of its own.
   */
  async invite(place: Place, results: readonly MemberResult[]): Promise<MemberOutcome[]> {
    const outcomes: MemberOutcome[] = []
    const failures: unknown[] = []
    for (const result of results) {
      const { address, code, invitation } = result
      const isTried = invitation !== null && mayGoOn(failures.at(-1))
      const isInvited = isTried && (await this.#send(place, address, invitation, failures))
      outcomes.push(isInvited ? { address, status: 'invited', code } : toOutcome(result))
    }
    this.#report(place, failures)
    return outcomes
  }

  /** True when the network has acknowledged the message. */
  async #send(
    { who, groupId }: Place,
    address: Jid,
    { code, expiresAt }: GroupInvitation,
    failures: unknown[],
  ): Promise<boolean> {
    const { sessionOf, directory, guard, settingsOf } = this.#deps
    try {
      const session = readySession(sessionOf, who.instance)
      const turn = await guard.admit(who, address, session)
      if (!turn) return false
      const subject = (await directory.find(who.instance, groupId))?.subject ?? ''
      const text = groupTexts[settingsOf(who.instance).locale].invitation
      const content = { type: 'group_invite', groupId, subject, code, expiresAt, text } as const
      await sendInTurn(turn, () =>
        session.send(turn.address, content, session.newMessageId(), { isFirst: turn.isFirst }),
      )
      return true
    } catch (error) {
      failures.push(error)
      return false
    }
  }

  /** One line for a call: it may name a thousand people. */
  #report({ who }: Place, failures: readonly unknown[]): void {
    if (failures.length === 0) return
    const facts = { err: failures.at(-1), instance: who.instance, failed: failures.length }
    this.#deps.log.warn(facts, 'invitations to a group were not sent')
  }
}

/** Whether a message to another person may succeed after the last failure, if there was one. */
function mayGoOn(failure: unknown): boolean {
  return failure === undefined || (failure instanceof SendError && failure.outcome !== 'unknown')
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
