// Which end-to-end tests run through a node that holds no instance, and which do not, with the reason. Every file is on one list.

type Files = Readonly<Record<string, readonly string[]>>

/** By folder of test/e2e. */
const through: Files = {
  adoption: ['adopt', 'afterwards', 'conversations', 'edges', 'many-contacts'],
  calls: ['rejected-calls'],
  contacts: ['import', 'repair', 'repair-many', 'repair-trouble'],
  direct: ['changes', 'guards', 'keys', 'kinds', 'refusals', 'state'],
  groups: ['administration', 'invitations', 'member-notes', 'members', 'picture', 'refusals'],
  history: [
    ...['answering-bot', 'files', 'import', 'imports', 'jobs', 'leaves-nothing', 'missed', 'no-answers', 'stops'],
    ...['true-dates', 'whole-phone', 'whole-way'],
  ],
  inbound: [
    ...['avatars', 'burst', 'communities', 'deleted', 'deleted-at-helpdesk', 'dropped-source-ids', 'existing-contact'],
    ...['faults', 'held-backlog', 'kinds', 'locales', 'one-person', 'outages', 'parked', 'people', 'requests'],
    ...['resolved', 'sealed-edits', 'settings-per-instance', 'timers', 'versions', 'withheld'],
  ],
  instances: [
    ...[
      'client-version',
      'connection',
      'instances',
      'kept-keys',
      'many-instances',
      'own-settings',
      'pairing',
      'passkey',
    ],
    ...['pending-logout', 'proxy', 'reasons', 'replaced-session', 'tenants', 'unreachable'],
  ],
  lifecycle: [...['counts', 'deliveries', 'events', 'helpdesk-notices', 'operations-contact', 'outages', 'sending']],
  live: ['events', 'overview'],
  operate: ['access-test', 'destinations', 'hostile-helpdesk', 'support-bundle', 'warnings'],
  outbound: [
    ...['activity', 'callback-log', 'changes', 'contents', 'default-timer', 'duplicates', 'events', 'files'],
    ...['first-contact', 'first-contacts', 'group-keys', 'interactive', 'large-groups', 'locales', 'odd-callbacks'],
    ...['order', 'pace', 'parts', 'queue', 'replies', 'retry-once', 'right-person', 'settings-per-instance'],
    ...['shown-truth', 'timers', 'torture', 'unprotected', 'versions', 'voice', 'webhook'],
  ],
  service: [
    ...['audit', 'check-cures', 'check-helpdesk', 'check-network', 'destinations', 'first-mistakes'],
    ...['health-details', 'hostile-requests', 'http', 'lost-callbacks', 'numbers', 'odd-texts'],
    ...['operations', 'overload', 'pages', 'refused-callbacks', 'round-trip', 'schemas', 'setup'],
    ...['setup-errors', 'setup-rules', 'setup-watch', 'sweeps', 'usage', 'wrong-clock'],
  ],
  session: ['audit-actor', 'cookie-authority', 'sign-in'],
  sync: [
    ...['headers', 'labels', 'labels-edges', 'names', 'receipt-results', 'reconcile', 'tick-looks', 'ticks', 'typing'],
    ...['typing-load', 'typing-subscriptions'],
  ],
  traces: ['collector-away', 'traces'],
}

/** By the reason. */
const notThrough: Readonly<Record<string, Files>> = {
  'they start processes of their own, and kill, stop or measure them': {
    adoption: ['kill'],
    calls: ['kill-during-rejection'],
    contacts: ['import-kill'],
    direct: ['kill'],
    history: ['kill'],
    inbound: ['backlog', 'day-offline', 'kill'],
    instances: ['chaos', 'failover', 'kill-during-pairing', 'one-owner'],
    lifecycle: ['process'],
    outbound: ['frozen', 'kill-during-sends', 'order-after-kill', 'shown-after-death'],
    service: [
      ...['compile-cache', 'kill-during-writes', 'large-bodies', 'launcher', 'long-texts', 'npm-start', 'process'],
      ...['process-one', 'slow-connections', 'start-errors'],
    ],
    sync: ['labels-kill', 'ticks-kill'],
  },
  'they are about several nodes already': {
    instances: ['held-elsewhere'],
    nodes: [
      ...['cells', 'creation-at-a-stopping-node', 'database-clock', 'deleted-instance', 'failover', 'hand-over'],
      ...['history-checker', 'interrupted', 'lone-callbacks', 'lone-node', 'node-gauges', 'ratchet-steps', 'relay'],
      ...['replica', 'rounds', 'slow-node', 'stage', 'stopping-node', 'through-stranger', 'upgrade'],
    ],
    service: ['nodes'],
  },
  'they are about the start or the stop of the only process': {
    lifecycle: ['backend', 'stop'],
    instances: ['early-command'],
    service: ['start', 'upgrade'],
  },
  'they look at the database of the only process or break it, mostly as a SQLite file': {
    direct: ['storage'],
    operate: ['backup'],
    outbound: ['storage'],
    service: ['check-machine', 'health', 'lost-answers', 'storage-trouble'],
  },
  'a browser shows the pages of the node that it asks': {
    dashboard: [
      ...['browser-modules', 'demo-nodes-page', 'demo-page', 'every-page', 'hostile-names', 'instance', 'keyboard'],
      ...['live', 'new-instance', 'nodes', 'offline', 'operator-pages', 'operator-troubles', 'overview', 'signing-in'],
    ],
    service: ['reference-page'],
  },
  'they run the commands of documents': { documents: ['commands', 'postgres-dump', 'troubleshooting'] },
}

export const throughStranger = pathsOf(through)
export const notThroughStranger = Object.values(notThrough).flatMap(pathsOf)

function pathsOf(files: Files): string[] {
  return Object.entries(files).flatMap(([folder, names]) => names.map((name) => `test/e2e/${folder}/${name}.test.ts`))
}
