// What a caller can set of an instance.

import { changeOwnSettings } from '../../core/chosen-settings.ts'
import type { OwnSettings, OwnSettingsChange } from '../../core/chosen-settings.ts'
import { changedColumns } from '../../storage/stores/accounts/instance-rows.ts'
import type { InstanceChanges } from '../../storage/stores/accounts/instance-rows.ts'

export type InstanceSettings = Pick<
  InstanceChanges,
  | 'ownerTag'
  | 'inboxId'
  | 'eventsWebhookUrl'
  | 'eventsWebhookSubscribers'
  | 'isSpamguardEnabled'
  | 'lastQrMessageId'
  | 'networkProxy'
  | 'outgoingRateLimit'
  | 'isHistoryEnabled'
  | 'historyDays'
> & {
  /** What changes of the settings that the instance has of its own. */
  own?: OwnSettingsChange
}

export function changesOf(
  { own, ...settings }: InstanceSettings,
  record: { ownSettings: OwnSettings },
): InstanceChanges {
  return own ? { ...settings, ownSettings: changeOwnSettings(record.ownSettings, own) } : settings
}

/** The names that the audit log shows. */
export function fieldsOf({ own = {}, ...settings }: InstanceSettings): string[] {
  return [...changedColumns(settings), ...Object.keys(own)].sort()
}
