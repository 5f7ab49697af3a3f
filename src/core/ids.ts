// The kinds of ids. The compiler refuses an id of one kind where another kind is expected.
//
// A plain string is still accepted, so that literals and text from the wire need no cast. Everything that names an id in a
// signature uses these types.

declare const kind: unique symbol
type Id<Kind extends string> = string & { readonly [kind]?: Kind }

/** The name that an operator gave a linked account. */
export type InstanceName = Id<'instance'>

/** Our key of a chat: the jid of a group, or the id of a person record. */
export type ChatId = Id<'chat'>

/** An address on the network, such as `5511888880001@s.whatsapp.net`. */
export type Jid = Id<'jid'>

/** The id of a message on the network. */
export type NetworkMessageId = Id<'network message'>

/** The id of a row of the inbox or the outbox, which sorts by time. */
export type RowId = Id<'row'>

/** Our key of a helpdesk inbox. The key stays the same when the base URL of the helpdesk changes. */
export type DestinationKey = Id<'destination'>
