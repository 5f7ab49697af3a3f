// The versions of Chatwoot that the simulator plays, and the table of what each of them can do.

/** The short name of a version and the release that it stands for. */
export const releases = {
  '3.3': '3.3.0',
  '3.4': '3.4.0',
  '4.2': '4.2.0',
  '4.3': '4.3.0',
  '4.7': '4.7.0',
  '4.12': '4.12.1',
  '4.14': '4.14.1',
} as const

export type HelpdeskVersion = keyof typeof releases

export const helpdeskVersions = Object.keys(releases) as HelpdeskVersion[]

/** The first release with each feature. Every other file asks for the feature and compares no versions. */
export const firstRelease = {
  /** A message keeps the `source_id` of the request that creates it. */
  messageSourceIds: '3.4.0',
  /** An agent can press Retry at a failed message. */
  messageRetry: '3.4.0',
  /** The public API can resolve a conversation. */
  publicToggleStatus: '3.7.0',
  /** At most 200 messages per minute and conversation. */
  floodLimit: '3.9.0',
  /** At most 100 searches for contacts per minute. */
  searchLimit: '3.9.0',
  /** The JSON of a contact has `blocked`. */
  blockedField: '4.0.2',
  /** The conversation of a webhook has `updated_at`. */
  conversationUpdatedAt: '4.0.2',
  /** PATCH changes the status of a message. */
  statusPatch: '4.2.0',
  /** Typing reaches the webhook of the helpdesk inbox. */
  typingWebhooks: '4.2.0',
  /** A bot may set the custom attributes of a conversation. */
  botCustomAttributes: '4.2.0',
  /** DELETE removes a conversation. */
  deleteConversation: '4.3.0',
  /** Builds with the enterprise folder transcribe audio files. */
  transcription: '4.3.0',
  /** The webhook content of a survey is the sentence with the link. 3.x has the link too, see `surveyLink`. */
  renderedWebhookContent: '4.4.0',
  /** The public list of conversations shows only those of the address, unless the contact is verified. */
  publicListByAddress: '4.7.0',
  /** The phone filter removes a leading plus before it adds its own. */
  plainPhoneFilter: '4.8.0',
  /** The JSON of a conversation has `assignee_type`. */
  assigneeType: '4.8.0',
  /** A source_id may have 20,000 characters instead of 255. */
  longSourceIds: '4.9.0',
  /** The search counts one page, says `has_more` and finds every contact. */
  searchHasMore: '4.11.0',
  /** update_last_seen writes at most once an hour while nothing is unread. */
  lastSeenThrottle: '4.11.0',
  /** `external_echo` is kept in content_attributes. */
  externalEcho: '4.11.0',
  /** GET /health exists. */
  health: '4.11.0',
  /** Every webhook has X-Chatwoot-Delivery. */
  deliveryHeader: '4.11.2',
  /** Account webhooks are signed. */
  signedAccountWebhooks: '4.11.2',
  /** A bot may show that it types. */
  botTyping: '4.11.2',
  /** An API inbox has a secret and reset_secret. */
  inboxSecret: '4.13.0',
  /** The webhooks of an API inbox are signed with its secret. */
  signedWebhooks: '4.13.0',
  /** Webhooks contain a plain newline where the editor wrote a backslash and a newline. */
  plainHardBreaks: '4.13.0',
  /** The JSON of an attachment has its extension and its content type. */
  attachmentTypes: '4.13.0',
  /** `filename*` counts in multipart requests. */
  extendedFileNames: '4.14.0',
  /** Webhooks go through SafeFetch: private addresses may be refused, redirects are followed, errors are Ruby's own. */
  safeFetch: '4.14.0',
  /** Builds with the enterprise folder update a message once for each of its audio files. */
  audioUpdate: '4.14.0',
} as const

export type Features = Record<keyof typeof firstRelease | 'surveyLink' | 'isNewest', boolean>

/** The settings of the installation that decide about features. */
type Switches = {
  version: HelpdeskVersion
  enterprise: boolean
  transcribeAudio: boolean
  signWebhooks: boolean
  stripHardBreaks: boolean
}

// Settings are replaced, never changed, so the features of one settings object stay the same.
const known = new WeakMap<Switches, Features>()

/** The features of the version. The settings can switch single features off. */
export function featuresOf(settings: Switches): Features {
  const found = known.get(settings) ?? featuresWith(settings)
  known.set(settings, found)
  return found
}

function featuresWith(settings: Switches): Features {
  const features = featuresOfVersion(settings.version)
  return {
    ...features,
    signedWebhooks: features.signedWebhooks && settings.signWebhooks,
    plainHardBreaks: features.plainHardBreaks && settings.stripHardBreaks,
    audioUpdate: features.audioUpdate && settings.enterprise,
    transcription: features.transcription && settings.enterprise && settings.transcribeAudio,
  }
}

export function parseHelpdeskVersion(text: string): HelpdeskVersion {
  const version = helpdeskVersions.find((each) => each === text)
  if (!version) throw new Error(`--helpdesk-version must be one of ${helpdeskVersions.join(', ')}`)
  return version
}

function featuresOfVersion(version: HelpdeskVersion): Features {
  const has = Object.entries(firstRelease).map(([feature, first]) => [feature, isAtLeast(version, first)])
  const features = Object.fromEntries(has) as Features
  return {
    ...features,
    // 4.0 to 4.3 lost the link of the survey: 3.x and everything since 4.4 have it.
    surveyLink: features.renderedWebhookContent || !isAtLeast(version, '4.0.0'),
    isNewest: version === '4.14',
  }
}

function isAtLeast(version: HelpdeskVersion, first: string): boolean {
  const wanted = first.split('.').map(Number)
  const actual = releases[version].split('.').map(Number)
  const difference = actual.map((part, at) => part - (wanted[at] ?? 0)).find((each) => each !== 0)
  return (difference ?? 0) >= 0
}
