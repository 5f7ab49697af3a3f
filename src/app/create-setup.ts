// Creates the use case that connects instances with helpdesk inboxes.

import type { SettingsOf } from '../core/chosen-settings.ts'
import type { Downstream } from '../core/downstream.ts'
import type { InstanceName } from '../core/ids.ts'
import type { InstanceRegistry } from '../instances/instance-registry.ts'
import type { InstanceService } from '../instances/service/instance-service.ts'
import type { Roster } from '../instances/roster/roster.ts'
import { InboxMaker } from '../setup/inbox-maker.ts'
import { InboxSetup } from '../setup/inbox-setup.ts'
import type { Base } from './base.ts'
import type { RoutingSet } from './create-tenants.ts'

type Parts = {
  settingsOf: SettingsOf
  instances: InstanceRegistry
  roster: Roster
  instanceService: InstanceService
  tenants: RoutingSet
  downstream: Downstream
}

export function createSetup({ config, clock, log }: Base, parts: Parts): InboxSetup {
  const { instances: registry, instanceService: instances, roster, downstream, settingsOf } = parts
  const { routing, identities, secrets } = parts.tenants
  const { publicUrl } = config.http
  const maker = new InboxMaker({ clock, lateCommitMs: downstream.limits.lateCommitMs })
  const settings = { publicUrl, modeOf: (instance: InstanceName) => settingsOf(instance).conversationMode }
  return new InboxSetup({ registry, roster, instances, routing, downstream, identities, secrets, maker, settings, log })
}
