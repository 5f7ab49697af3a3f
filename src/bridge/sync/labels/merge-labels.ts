// Decides which labels a chat has, from what both sides have now and what both had when they last agreed.
//
// A label that both had and one side lacks now was removed there: it goes. A label that only one side has and that both did not
// have before is new: it comes. Without an earlier agreement nothing counts as removed.

export type LabelSides = {
  /** The titles of the labels of the chat at the network. */
  network: ReadonlySet<string>
  /** The titles of the labels of the conversation at the helpdesk. */
  helpdesk: ReadonlySet<string>
}

type SideChanges = { add: readonly string[]; remove: readonly string[] }
export type LabelChanges = { network: SideChanges; helpdesk: SideChanges }

export function mergeLabels(agreed: ReadonlySet<string>, { network, helpdesk }: LabelSides): LabelChanges {
  const all = network.union(helpdesk)
  const wanted = new Set([...all].filter((title) => !agreed.has(title) || (network.has(title) && helpdesk.has(title))))
  return { network: changesTo(network, wanted), helpdesk: changesTo(helpdesk, wanted) }
}

/**
 * What counts as agreed, given what both sides have after the changes. A label whose removal has failed on one side stays agreed,
 * so that the next attempt removes it.
 */
export function agreedAfter(before: ReadonlySet<string>, { network, helpdesk }: LabelSides): ReadonlySet<string> {
  return network.intersection(helpdesk).union(before.intersection(network.union(helpdesk)))
}

function changesTo(side: ReadonlySet<string>, wanted: ReadonlySet<string>): SideChanges {
  return { add: [...wanted.difference(side)].sort(), remove: [...side.difference(wanted)].sort() }
}
