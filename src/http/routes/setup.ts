// The endpoint that connects an instance with a helpdesk inbox.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { Caller } from '../../core/audit.ts'
import { BridgeError } from '../../core/errors.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { MembersRequest } from '../../setup/inbox-members.ts'
import type { InboxOutcome, InboxRequest, InboxSetup } from '../../setup/inbox-setup.ts'
import type { HttpApp } from '../http-app.ts'
import { InstanceParams, nullable, responses } from '../schemas.ts'

export type SetupDeps = { setup: Pick<InboxSetup, 'setUp' | 'assertPossible'> }

const maxId = 2 ** 31 - 1
const maxMembers = 1000

const Members = Type.Unsafe<MembersRequest | null>({
  description:
    'Who sees the inbox besides administrators: "all" agents, "none", or a list of user ids. Members who are there already ' +
    'stay. Absent: "all" for a new inbox, "none" for one that exists',
  anyOf: [
    { type: 'string', enum: ['all', 'none', null], nullable: true },
    { type: 'array', items: { type: 'integer', minimum: 1, maximum: maxId }, maxItems: maxMembers },
  ],
})

const InboxBody = Type.Object(
  {
    name: Type.Optional(
      nullable(
        Type.String({
          pattern: '^(?=.*\\S)[^\\p{C}]{1,255}$',
          description: 'a name for a new inbox: 1 to 255 printable characters. Absent: the name of the instance',
        }),
      ),
    ),
    inbox_id: Type.Optional(
      nullable(Type.Integer({ minimum: 1, maximum: maxId, description: 'Adopt this inbox instead of creating one' })),
    ),
    members: Type.Optional(Members),
    force: Type.Optional(
      nullable(
        Type.Boolean({
          description:
            'Take over an inbox whose webhook address leads elsewhere, and fit "lock to single conversation" to ' +
            'SERVICE_CONVERSATION_MODE',
        }),
      ),
    ),
  },
  { title: 'InboxSetup' },
)

export const ConnectedInbox = Type.Object(
  {
    inbox_id: Type.Integer(),
    name: Type.String(),
    webhook_url: Type.String({ description: 'Where the helpdesk calls this service' }),
    action: Type.Unsafe<InboxOutcome['action']>({
      type: 'string',
      enum: ['created', 'adopted', 'repaired', 'unchanged'],
      description: 'repaired: the instance had this inbox, and its settings were corrected',
    }),
    shared: Type.Boolean({ description: 'Another instance hears the callbacks of this inbox and passes them on' }),
    secret_stored: Type.Boolean({ description: 'false before Chatwoot 4.13, which signs no callbacks' }),
    members: Type.Integer({ description: 'How many agents see the inbox' }),
  },
  { title: 'ConnectedInbox' },
)

/** What a set-up may answer besides success. */
export const setupStatuses = [404, 409, 502] as const

export function addSetupRoutes(app: HttpApp, { setup }: SetupDeps): void {
  app.post(
    '/api/instances/:name/inbox',
    {
      schema: {
        operationId: 'setUpInbox',
        summary: 'Create or adopt the helpdesk inbox of an instance, and set its webhook address; may be repeated',
        tags: ['instances'],
        params: InstanceParams,
        body: InboxBody,
        response: responses({ 200: ConnectedInbox }, ...setupStatuses),
      },
      // Every field has a default, so a request without a body is complete.
      preValidation: (request, _reply, done) => {
        const given: unknown = request.body
        if (given === undefined) request.body = {}
        done()
      },
    },
    async ({ params, body, actor }) => toConnectedInbox(await setup.setUp(params.name, toRequest(body), actor)),
  )
}

/** For an instance that was created in the same request: a failure says how to go on. */
export async function connectCreated(
  { setup }: SetupDeps,
  name: InstanceName,
  inboxId: number | null,
  actor: Caller,
): Promise<Static<typeof ConnectedInbox>> {
  try {
    const request = { name: null, inboxId, members: null, force: false }
    return toConnectedInbox(await setup.setUp(name, request, actor))
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error
    const sentence = `${error.message}. The instance exists; set up its inbox with POST /api/instances/${name}/inbox`
    throw new BridgeError(error.code, sentence, { cause: error })
  }
}

function toRequest({ name, inbox_id: inboxId, members, force }: Static<typeof InboxBody>): InboxRequest {
  return { name: name ?? null, inboxId: inboxId ?? null, members: members ?? null, force: force ?? false }
}

function toConnectedInbox(outcome: InboxOutcome): Static<typeof ConnectedInbox> {
  const { inboxId, name, webhookUrl, action, isShared, hasSecret, members } = outcome
  return {
    inbox_id: inboxId,
    name,
    webhook_url: webhookUrl,
    action,
    shared: isShared,
    secret_stored: hasSecret,
    members,
  }
}
