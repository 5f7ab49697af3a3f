// Which node holds an instance, and what a request to that node says.

import type { InstanceName } from '../ids.ts'
import type { Peer } from './peers.ts'

/** Another node that holds an instance. */
export type Owner = Peer & { epoch: number }

/**
 * here: this node holds it. none: no node does at the moment. quarantined: no node may open it. unknown: there is no such
 * instance.
 */
export type OwnerAnswer = Owner | 'here' | 'none' | 'quarantined' | 'unknown'

export type Owners = {
  /** May be some seconds old, except for `here`. */
  ownerOf(instance: InstanceName): Promise<OwnerAnswer>
  /** For callers without a token: a name that did not exist some seconds ago is `unknown`, without a query. */
  callbackOwnerOf(instance: InstanceName): Promise<OwnerAnswer>
  /** The last answer was wrong: the next question goes to the database. */
  forget(instance: InstanceName): void
  /** Ends the quarantine: this node holds the instance from now on and opens it. Nothing happens when it has ended already. */
  takeQuarantined(instance: InstanceName): Promise<void>
}

/** Whether a node serves an instance: `leaving` while the instance is on its way to another node. */
export type Standing = 'held' | 'leaving' | 'not_held'

/** A public request as the node that received it hands it on. The body comes beside it. */
export type ForwardHead = {
  instance: InstanceName
  /** The epoch under which the asked node holds the instance, as far as the asking one knows. */
  epoch: number
  method: string
  /** With the query, as the client sent it. */
  path: string
  headers: Record<string, string | string[]>
  /** The address of the client. */
  client: string
  /** For how long the request has waited at the node that received it. */
  waitedMs: number
}
