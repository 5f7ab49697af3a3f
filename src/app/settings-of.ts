// Says which settings count for an instance.

import type { Config } from '../config/config.ts'
import type { SettingsOf } from '../core/chosen-settings.ts'

export function createSettingsOf({ downstream, inbound, outbound }: Config): SettingsOf {
  const { conversationMode, newConversationStatus } = downstream
  const { ignoreJids, headerTemplate, quoteStyle, locale, rejectCalls } = inbound
  const { signMessages } = outbound
  const ofService = {
    ...{ conversationMode, newConversationStatus, ignoreJids, headerTemplate, quoteStyle, locale },
    ...{ signMessages, rejectCalls },
  }
  return () => ofService
}
