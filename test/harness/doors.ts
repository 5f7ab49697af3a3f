// Which node answers a request, for every route of the OpenAPI document.

/** From the database, or together with the other nodes: every node gives the same answer. */
const any = [
  ...['get /api/audit', 'get /api/events', 'get /api/nodes', 'get /api/overview', 'get /api/public/stats'],
  ...['get /api/instances', 'get /api/instances/bulk/status', 'get /api/jobs', 'get /api/jobs/{id}'],
  ...['deliveries', 'outbox', 'parked', 'state'].map((path) => `get /api/instances/{name}/${path}`),
  ...['get /api/tenants', 'get /api/tenants/{owner_tag}', 'get /api/usage', 'get /api/usage/summary'],
  ...['delete', 'patch', 'put'].map((method) => `${method} /api/tenants/{owner_tag}`),
  // They ask the helpdesk, and remember nothing.
  ...['post /api/destinations/test', 'post /api/tenants/{owner_tag}/test'],
]

/** The node that receives the request answers for itself. */
const each: Record<string, string> = {
  'get /api/health': 'each node is watched by itself',
  'get /api/ready': 'a balancer asks each node',
  'get /metrics': 'each node counts what it does',
  'get /api/version': 'nodes run two versions during an upgrade',
  'get /api/settings': 'each process has its own variables',
  'get /api/warnings': 'they are about the variables of the process, and about its memory',
  'get /api/destinations': 'a node holds a helpdesk inbox for its own instances',
  'get /api/support-bundle': 'it holds the metrics and the settings of the process',
  'get /api/backups': 'with PostgreSQL there are none',
  'post /api/backup': 'with PostgreSQL it is refused',
  'get /api/session': 'every node knows a session by its signed cookie',
  'post /api/session': 'every node knows a session by its signed cookie',
  'delete /api/session': 'the browser drops the cookie',
}

/** The path names the instance. */
const owner = [
  ...['delete', 'get', 'patch'].map((method) => `${method} /api/instances/{name}`),
  ...['ban-risk', 'check', 'groups', 'groups/{jid}', 'groups/{jid}/invite', 'groups/{jid}/requests'].map(reads),
  ...['numbers/{phone}', 'outbox/{queue_id}', 'qr', 'states', 'usage', 'wait-ready'].map(reads),
  ...['adopt', 'avatars/resync', 'check', 'contacts/import', 'contacts/repair'].map(changes),
  ...['deliveries/{id}/redeliver', 'groups', 'groups/{jid}/announce', 'groups/{jid}/locked'].map(changes),
  ...['groups/{jid}/name', 'groups/{jid}/participants', 'groups/{jid}/picture', 'groups/{jid}/requests'].map(changes),
  ...['groups/{jid}/topic', 'history/import', 'history/import-all', 'history/import-all-async'].map(changes),
  ...['inbox', 'logout', 'messages', 'messages/{waid}/edit', 'pairing-code', 'parked/retry'].map(changes),
  ...['refresh-qr', 'restart', 'retroactive/reconcile', 'webhook'].map(changes),
  ...['groups/{jid}', 'groups/{jid}/invite', 'parked/{id}'].map((path) => `delete /api/instances/{name}/${path}`),
]

/** The route finds the instance in the body or in the database. A new one belongs to the node that creates it. */
const ownerByRoute = ['post /api/instances', 'post /api/instances/bulk', 'delete /api/jobs/{id}']

type Door = 'any' | 'each' | 'owner' | 'owner by route'

/** By method and path, as the OpenAPI document writes them. */
export const doors: ReadonlyMap<string, Door> = new Map([
  ...any.map((route): [string, Door] => [route, 'any']),
  ...Object.keys(each).map((route): [string, Door] => [route, 'each']),
  ...owner.map((route): [string, Door] => [route, 'owner']),
  ...ownerByRoute.map((route): [string, Door] => [route, 'owner by route']),
])

/** Whether a node that holds nothing gives the answer that a test expects of the service. */
export function isAnsweredByAll(method: string, path: string): boolean {
  const [plain = ''] = path.split('?')
  return plain.startsWith('/api/') && doors.get(`${method.toLowerCase()} ${plain}`) !== 'each'
}

/** The names of the instances that the request creates where they do not exist; undefined for other requests. */
export function namesToCreate(method: string, path: string, body: unknown): unknown[] | undefined {
  if (method !== 'POST' || !['/api/instances', '/api/instances/bulk'].includes(path)) return undefined
  const { name, names = [name] } = (body ?? {}) as { name?: unknown; names?: unknown }
  return Array.isArray(names) ? (names as unknown[]) : []
}

function reads(path: string): string {
  return `get /api/instances/{name}/${path}`
}

function changes(path: string): string {
  return `post /api/instances/{name}/${path}`
}
