// The differences between the simulator and the recorded Chatwoot that stay, each with its reason.

export type KnownDifference = {
  file: string
  what: string
  /** The beginning of the path to the different value. An empty path covers the whole recording. */
  at: string
  reason: string
}

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
]
