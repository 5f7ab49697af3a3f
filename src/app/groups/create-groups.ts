// Creates the parts that manage groups: the use cases behind the endpoints, and the notes with the members of a group.

import { GroupInvitations } from '../../bridge/groups/group-invitations.ts'
import { GroupService } from '../../bridge/groups/group-service.ts'
import { MemberNotes } from '../../bridge/groups/member-notes.ts'
import type { GroupDirectory } from '../../bridge/people/group-directory.ts'
import type { People } from '../../bridge/people/people.ts'
import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { Downstream } from '../../core/downstream.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { AuditStore } from '../../storage/stores/ledger/audit-store.ts'
import type { Base } from '../base.ts'
import { createInvitationGuard } from './invitation-guard.ts'
import type { GuardParts } from './invitation-guard.ts'

type NoteParts = {
  settingsOf: SettingsOf
  instances: Pick<InstanceRegistry, 'find'>
  people: People
  downstream: Downstream
}
type ServiceParts = Omit<NoteParts, 'downstream'> & {
  directory: GroupDirectory
  audit: Pick<AuditStore, 'append'>
  guards: GuardParts
}

export function createMemberNotes({ clock, log, stack }: Base, parts: NoteParts): MemberNotes {
  const { settingsOf, instances, people, downstream } = parts
  return stack.use(
    new MemberNotes({
      sessionOf: (instance) => instances.find(instance)?.session,
      people,
      helpdeskOf: (destination) => downstream.helpdesk(destination),
      limits: downstream.limits,
      settingsOf,
      clock,
      log,
    }),
  )
}

export function createGroupService({ clock, log }: Base, parts: ServiceParts): GroupService {
  const { settingsOf, instances, people, directory, audit, guards } = parts
  const sessionOf = (instance: InstanceName) => instances.find(instance)?.session
  const guard = createInvitationGuard(guards)
  const invitations = new GroupInvitations({ sessionOf, directory, guard, settingsOf, log })
  return new GroupService({
    ...{ sessionOf, people, directory, invitations, clock },
    audit: (record) => audit.append(record),
  })
}
