// Parses and formats the addresses of the network: user, optional device, server.
export const PHONE_SERVER = 's.whatsapp.net'
export const LID_SERVER = 'lid'
export const GROUP_SERVER = 'g.us'
/** The address of the server. It has no user, and clients recognise it by that. */
export const SERVER_JID = `@${PHONE_SERVER}`

/** The address of status updates, which reach every contact of the author and belong to no chat. */
export const STATUS_JID = 'status@broadcast'

export type Jid = { user: string; device: number; server: string }

export function formatJid(user: string, server: string, device = 0): string {
  return device === 0 ? `${user}@${server}` : `${user}:${device}@${server}`
}

export function parseJid(jid: string): Jid {
  const at = jid.indexOf('@')
  if (at < 0) throw new Error(`not an address: "${jid}"`)
  const [user = '', device = '0'] = jid.slice(0, at).split(':')
  return { user, device: Number(device), server: jid.slice(at + 1) }
}

export function isGroupJid(jid: string): boolean {
  return jid.endsWith(`@${GROUP_SERVER}`)
}

export function isLidJid(jid: string): boolean {
  return jid.endsWith(`@${LID_SERVER}`)
}

export function withoutDevice(jid: string): string {
  const { user, server } = parseJid(jid)
  return formatJid(user, server)
}
