// The other bridges whose helpdesk inboxes the service can take over.

import type { BridgeContact, BridgeForms, Recognition } from './bridge-contact.ts'
import { evolution } from './evolution.ts'
import { gowa } from './gowa.ts'
import { waha } from './waha.ts'

export const otherBridges = ['evolution', 'waha', 'gowa'] as const
export type OtherBridge = (typeof otherBridges)[number]

export const formsOf: Readonly<Record<OtherBridge, BridgeForms>> = { evolution, waha, gowa }

/** Whom a contact stands for, whichever bridge wrote it. A mark of any bridge counts more than the phone number. */
export function recogniseAny(contact: BridgeContact): Recognition {
  const found = otherBridges.map((bridge) => formsOf[bridge].recognise(contact))
  const own = found.find(({ kind }) => kind === 'own')
  const marked = found.find((each) => each.kind === 'chat' && each.isMarked)
  return own ?? marked ?? found.find(({ kind }) => kind === 'chat') ?? { kind: 'other' }
}
