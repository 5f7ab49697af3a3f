// Says which settings count for an instance.

import type { Config } from '../config/config.ts'
import { chooseSettings } from '../config/own-settings.ts'
import type { ChosenSettings, OwnSettings, SettingsOf } from '../core/chosen-settings.ts'
import type { InstanceName } from '../core/ids.ts'

type Instances = { find(name: InstanceName): { record: { readonly ownSettings: OwnSettings } } | undefined }

/** The settings of the service count for an instance that is gone. */
export function createSettingsOf(config: Config, instances: Instances): SettingsOf {
  const ofService = chooseSettings(config, {})
  // A change replaces the object in the record, so nothing here gets old or is left behind.
  const chosen = new WeakMap<OwnSettings, ChosenSettings>()
  return (instance) => {
    const own = instances.find(instance)?.record.ownSettings
    if (!own) return ofService
    const known = chosen.get(own) ?? chooseSettings(config, own)
    chosen.set(own, known)
    return known
  }
}
