// The differences between the simulator and the recorded Chatwoot that stay, each with its reason.

type KnownDifference = {
  file: string
  what: string
  /** The beginning of the path to the different value. An empty path covers the whole recording. */
  at: string
  reason: string
}

const noSql = 'The simulator keeps its rows in memory: there is no SQL.'
const noNotices = 'The simulator has no notifications of agents and no reports.'
const neverFetched = 'The simulator never fetches an avatar_url: every address of a test is private.'

export const knownDifferences: readonly KnownDifference[] = [
  {
    file: 'errors',
    what: 'profile of an administrator token',
    at: 'type',
    reason: 'The recorded administrator also administers the installation, which says nothing about the account.',
  },
  {
    file: 'errors',
    what: 'the same at that moment from loopback',
    at: 'status',
    reason: 'Chatwoot exempts its own machine from the limits. Every caller of the simulator counts as a remote one.',
  },
  { file: 'contacts', what: 'contact after avatar_url job', at: 'thumbnail', reason: neverFetched },
  { file: 'contacts', what: 'avatar_url, other URL within a minute', at: '', reason: neverFetched },
  { file: 'contacts', what: 'avatar_url invalid', at: 'payload.thumbnail', reason: neverFetched },
  { file: 'contacts', what: 'avatar_url answering 404', at: '', reason: neverFetched },
  {
    file: 'contacts',
    what: 'avatar_url: a1, a2 2.5 s later, a2 again after 65 s, then a3',
    at: '',
    reason: neverFetched,
  },
  {
    file: 'messages',
    what: 'width/height of an image later (list)',
    at: '',
    reason: 'The simulator does not read pictures, so their width and height stay null.',
  },
  { file: 'history', what: 'reporting_events rows written for that conversation', at: '', reason: noNotices },
  { file: 'history', what: 'pending with assignee: notifications after another incoming', at: '', reason: noNotices },
  { file: 'history', what: 'notifications of the assignee, open', at: '', reason: noNotices },
  { file: 'history', what: 'notifications of the assignee, pending', at: '', reason: noNotices },
  {
    file: 'history',
    what: 'pending, inbox with an agent bot: callbacks incl. /bot',
    at: 'callbacks',
    reason: 'Replayed in recorded-bots.test.ts, which has a listener for the callbacks of a bot.',
  },
  ...[
    'content_attributes as stored',
    "(content_attributes #>> '{}')::jsonb ->> 'external_created_at'",
    "content_attributes ->> 'external_created_at' (plain)",
    'row with empty content_attributes',
    'session America/Sao_Paulo: to_timestamp(epoch)::timestamp vs AT TIME ZONE UTC',
    'recipe as written in the contract',
    'conversation before/after backdating',
  ].map((what) => ({ file: 'backdate', what, at: '', reason: noSql })),
]
