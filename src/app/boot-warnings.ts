// The warnings for the operator at every start: routes without a secret, and secrets stored in plain.

import type { Config } from '../config/config.ts'
import type { InstanceRow } from '../storage/stores/accounts/instance-rows.ts'
import type { Routing } from '../tenants/routing.ts'

type Instance = Pick<InstanceRow, 'name' | 'ownerTag' | 'inboxId'>

export async function bootWarnings(
  config: Config,
  instances: readonly Instance[],
  routing: Pick<Routing, 'storedSecretsOf'>,
): Promise<string[]> {
  const warnings: string[] = []
  if (config.http.apiToken === '') {
    warnings.push('the API is open to everybody who can reach it: set SERVICE_API_TOKEN')
  }
  if (config.storage.encryptionKeys.length === 0) {
    warnings.push('session keys, tenant secrets and messages are stored in plain: set SERVICE_ENCRYPTION_KEY')
  }
  if (config.network.url !== null) {
    warnings.push('SERVICE_NETWORK_URL is set: this service talks to that network, not to WhatsApp')
  }
  const open = config.downstream.webhookSecret === '' ? await withoutSecret(instances, routing) : []
  if (open.length > 0) {
    warnings.push(
      `anybody can send through the webhook of ${open.join(', ')}: POST /api/instances/<name>/inbox stores the secret of ` +
        "the inbox (Chatwoot 4.13 or newer), or set WEBHOOK_HMAC_SECRET or the tenant's",
    )
  }
  return warnings
}

async function withoutSecret(
  instances: readonly Instance[],
  routing: Pick<Routing, 'storedSecretsOf'>,
): Promise<string[]> {
  const secrets = await Promise.all(instances.map((instance) => routing.storedSecretsOf(instance)))
  return instances.filter((_, index) => secrets[index]?.length === 0).map(({ name }) => name)
}
