// Makes a helpdesk inbox ready for the callbacks of an instance: finds it, creates it, or corrects its address.

import { DownstreamError } from '../core/downstream.ts'
import { BridgeError } from '../core/errors.ts'
import type { HelpdeskAccount, InboxChanges, InboxSettings } from '../core/helpdesk/helpdesk-account.ts'
import type { InstanceName } from '../core/ids.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import type { Clock } from '../lib/clock.ts'
import { inboxNotFound } from './choose-inbox.ts'
import type { ChosenInbox } from './choose-inbox.ts'
import type { InboxUse } from './inbox-use.ts'
import { judgeAddress } from './judge-address.ts'
import type { AddressVerdict } from './judge-address.ts'
import { leadsTo, parseWebhookAddress, webhookUrlOf } from './webhook-address.ts'

export type InboxJob = {
  instance: InstanceName
  /** Origin and account as one text. */
  accountPlace: string
  account: HelpdeskAccount
  chosen: ChosenInbox | null
  /** The name of a new helpdesk inbox. */
  name: string
  publicUrl: string
  isLocked: boolean
  force: boolean
  useBy: (other: InstanceName, inboxId: number) => Promise<InboxUse>
}

export type InboxAction = 'created' | 'adopted' | 'repaired' | 'unchanged'

/** `isFound`: the helpdesk inbox was found by its address, so an earlier set-up may have created it and then failed. */
export type MadeInbox = { inbox: InboxSettings; action: InboxAction; isShared: boolean; isFound: boolean }

type Deps = { clock: Clock; lateCommitMs: number }

export class InboxMaker {
  readonly #deps: Deps
  /** The helpdesk did not answer, and may still create these helpdesk inboxes. */
  readonly #uncertain: BoundedMap<true>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#uncertain = new BoundedMap({ clock: deps.clock, max: 1000, ttlMs: deps.lateCommitMs })
  }

  async make(job: InboxJob): Promise<MadeInbox> {
    const chosen = job.chosen && (await findChosen(job, job.chosen))
    if (chosen) return adopt(job, chosen, job.chosen?.isInUse ?? false)
    const found = await findByAddress(job)
    return found ? { ...(await adopt(job, found, false)), isFound: true } : this.#create(job)
  }

  async #create(job: InboxJob): Promise<MadeInbox> {
    const { account, instance, name, publicUrl, isLocked: isLockedToSingleConversation } = job
    const key = `${job.accountPlace}|${instance}`
    if (this.#uncertain.has(key)) throw this.#mayStillCome()
    const webhookUrl = webhookUrlOf(publicUrl, instance)
    try {
      const inbox = await account.createInbox({ name, webhookUrl, isLockedToSingleConversation })
      return { inbox, action: 'created', isShared: false, isFound: false }
    } catch (error) {
      if (!(error instanceof DownstreamError) || !error.mayHaveHappened) throw error
      this.#uncertain.set(key, true)
      const inbox = await findByAddress(job)
      if (inbox) return { inbox, action: 'created', isShared: false, isFound: false }
      throw this.#mayStillCome(error)
    }
  }

  #mayStillCome(cause?: DownstreamError): BridgeError {
    const seconds = Math.ceil(this.#deps.lateCommitMs / 1000)
    const why = cause ? `${cause.message}: ` : ''
    const sentence = `${why}the helpdesk may still create the inbox; ask again in ${seconds} s, which creates no second one`
    return new BridgeError('SERVICE_HELPDESK_FAILED', sentence, { cause })
  }
}

/** Null when a new helpdesk inbox takes the place of the chosen one, for example because that one was deleted. */
async function findChosen({ account }: InboxJob, chosen: ChosenInbox): Promise<InboxSettings | null> {
  const inbox = await account.findInbox(chosen.id)
  if (!inbox && chosen.isReplaceable) return null
  if (!inbox) throw inboxNotFound(chosen)
  if (inbox.isApi) return inbox
  throw new BridgeError(
    'SERVICE_NOT_API_INBOX',
    `inbox ${inbox.id} (${JSON.stringify(inbox.name)}) is no API inbox: ask for one of the kind API`,
  )
}

async function findByAddress({ account, instance, publicUrl }: InboxJob): Promise<InboxSettings | undefined> {
  return (await account.inboxes()).find(({ isApi, webhookUrl }) => {
    const address = isApi ? parseWebhookAddress(webhookUrl) : null
    return address?.instance === instance && leadsTo(address, publicUrl)
  })
}

async function adopt(job: InboxJob, inbox: InboxSettings, isInUse: boolean): Promise<MadeInbox> {
  const { account, instance: name, publicUrl, useBy } = job
  const address = inbox.webhookUrl
  const named = parseWebhookAddress(address)
  const use = named && named.instance !== name ? await useBy(named.instance, inbox.id) : 'none'
  const verdict = judgeAddress({ address, name, publicUrl, isInUse, use })
  if (verdict.kind === 'taken' && !job.force) throw taken(inbox, verdict)
  const changes = changesOf(job, inbox, verdict)
  const isChanged = Object.keys(changes).length > 0
  const changed = isChanged ? await account.changeInbox(inbox.id, changes) : inbox
  const isShared = verdict.kind !== 'taken' && verdict.isShared
  return { inbox: changed, action: actionOf(isInUse, isChanged), isShared, isFound: false }
}

function changesOf({ force, isLocked }: InboxJob, inbox: InboxSettings, verdict: AddressVerdict): InboxChanges {
  const mustLock = force && inbox.isLockedToSingleConversation !== isLocked
  return {
    ...(verdict.kind !== 'right' && { webhookUrl: verdict.url }),
    ...(mustLock && { isLockedToSingleConversation: isLocked }),
  }
}

function actionOf(isInUse: boolean, isChanged: boolean): InboxAction {
  if (!isInUse) return 'adopted'
  return isChanged ? 'repaired' : 'unchanged'
}

function taken({ id, name }: InboxSettings, { where }: { where: string }): BridgeError {
  return new BridgeError(
    'SERVICE_INBOX_TAKEN',
    `the webhook address of inbox ${id} (${JSON.stringify(name)}) leads to ${where}: ` +
      'repeat with "force": true to take the inbox over, or ask for another one',
  )
}
